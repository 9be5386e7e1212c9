import type { Id } from "../../src/id/ids.ts";
import { unpackId } from "../../src/id/ids.ts";
import { WRITER } from "./graph.ts";
import { type GuardRequest, WRITERS } from "./messages.ts";

type Query = (
	text: string,
	options?: {
		readonly viewer?: Id;
		readonly variables?: Readonly<Record<string, unknown>>;
	},
) => Promise<{ readonly data?: unknown; readonly errors?: readonly unknown[] }>;

interface Writer {
	readonly id: Id;
	readonly board: string;
	/** Those they created, oldest first. */
	readonly pins: string[];
}

const CREATE =
	"mutation CreatePin($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }";
const LIKE =
	"mutation LikePin($input: LikePinInput!) { likePin(input: $input) { pin { id } } }";

/** The writers of the guard: each on a shard of its own, so that all runs write the same rows of as many shards. */
export class Writers {
	readonly #query: Query;
	readonly #writers: readonly Writer[];

	private constructor(query: Query, writers: readonly Writer[]) {
		this.#query = query;
		this.#writers = writers;
	}

	static async among(query: Query, users: number): Promise<Writers> {
		const byShard = new Map<number, Writer>();
		for (let n = 0; n < users && byShard.size < WRITERS; n++) {
			const { data } = await query(
				`{ user(by: {username: "${WRITER}${n}"}) { id boards(first: 1) { nodes { id } } } }`,
			);
			const { user } = data as {
				user: { id: Id; boards: { nodes: readonly { id: string }[] } };
			};
			const board = user.boards.nodes[0]?.id ?? "";
			byShard.set(unpackId(user.id).shard, { id: user.id, board, pins: [] });
		}
		if (byShard.size < WRITERS) throw new Error("A shard has no writer.");
		const writers = [...byShard].toSorted(([a], [b]) => a - b);
		return new Writers(
			query,
			writers.map(([, writer]) => writer),
		);
	}

	/** A pin is liked by the writer of the next shard, so each like changes two shards. */
	async write({
		mutation,
		together,
		turn,
	}: Extract<GuardRequest, { kind: "write" }>): Promise<void> {
		const writes = this.#writers.map((writer, at) => async () => {
			if (mutation === "createPin") {
				const details = `Pin ${turn}`;
				const pin = await this.#mutate(CREATE, "createPin", writer, {
					boardId: writer.board,
					details,
					link: `https://example.com/${turn}`,
				});
				writer.pins.push(pin);
				return;
			}
			const other = this.#writers[(at + 1) % WRITERS];
			await this.#mutate(LIKE, "likePin", writer, { pinId: other?.pins[turn] });
		});
		if (together) await Promise.all(writes.map((write) => write()));
		else for (const write of writes) await write();
	}

	async #mutate(
		text: string,
		field: string,
		{ id: viewer }: Writer,
		input: Readonly<Record<string, unknown>>,
	): Promise<string> {
		const { data, errors } = await this.#query(text, {
			viewer,
			variables: { input },
		});
		if (errors?.length) throw new Error(JSON.stringify(errors));
		const payload = (data as Record<string, { pin: { id: string } }>)[field];
		return payload?.pin.id ?? "";
	}
}
