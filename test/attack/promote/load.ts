import { Agent, request } from "node:http";
import type { Acknowledged } from "./evidence.ts";

/** No request takes longer, whatever is wrong. Milliseconds. */
const ANSWER_LIMIT_MS = 30_000;
const TICK_MS = 5;
const KEPT_FAILURES = 20;
/** Reads are of the newest pins: what was just written is asked for too. */
const READ_AMONG = 2_000;
const REFUSAL = "has as many requests in progress as it may";
/** Ids of one request of the last look. */
const LOOKED_AT = 20;

interface Reply {
	readonly data?: Readonly<Record<string, unknown>> | null;
	readonly errors?: readonly unknown[];
}

export interface Writer {
	readonly token: string;
	readonly boardId: string;
}

/** Asks one server, and rejects what is not a whole answer: another status, errors, or none in time. */
export class Client implements Disposable {
	readonly #agent = new Agent({ keepAlive: true });
	readonly #url: URL;

	constructor(url: string) {
		this.#url = new URL("/graphql", url);
	}

	ask(
		query: string,
		variables: Readonly<Record<string, unknown>>,
		token: string | null = null,
	): Promise<Readonly<Record<string, unknown>>> {
		return new Promise((resolve, reject) => {
			const sent = request(
				this.#url,
				{
					method: "POST",
					agent: this.#agent,
					headers: {
						"content-type": "application/json",
						...(token !== null && { authorization: `Bearer ${token}` }),
					},
				},
				(response) => {
					let text = "";
					response.setEncoding("utf8");
					response.on("data", (chunk: string) => {
						text += chunk;
					});
					response.on("error", reject);
					response.on("end", () => {
						try {
							const { data, errors }: Reply = JSON.parse(text);
							if (response.statusCode === 200 && data && !errors) resolve(data);
							else {
								reject(
									new Error(`${response.statusCode} ${text.slice(0, 500)}`),
								);
							}
						} catch {
							reject(new Error(`${response.statusCode} ${text.slice(0, 500)}`));
						}
					});
				},
			);
			const timer = setTimeout(
				() => sent.destroy(new Error(`no answer in ${ANSWER_LIMIT_MS} ms`)),
				ANSWER_LIMIT_MS,
			);
			sent.on("close", () => clearTimeout(timer));
			sent.on("error", reject);
			sent.end(JSON.stringify({ query, variables }));
		});
	}

	[Symbol.dispose](): void {
		this.#agent.destroy();
	}
}

/** A user of each server's own, with a board. */
export async function signUp(
	client: Client,
	username: string,
): Promise<Writer> {
	const made = (await client.ask(
		"mutation ($input: CreateUserInput!) { made: createUser(input: $input) { token } }",
		{ input: { username } },
	)) as { readonly made: { readonly token: string } };
	const { token } = made.made;
	const { created } = (await client.ask(
		"mutation ($input: CreateBoardInput!) { created: createBoard(input: $input) { board { id } } }",
		{ input: { name: "Written under load" } },
		token,
	)) as { readonly created: { readonly board: { readonly id: string } } };
	return { token, boardId: created.board.id };
}

/** What a load came to. */
export interface LoadReport {
	readonly reads: number;
	readonly writes: number;
	readonly slowestReadMs: number;
	readonly slowestWriteMs: number;
	/** Without those that a busy server refused at once, as it promises. */
	readonly failed: number;
	readonly refused: number;
	readonly failures: readonly string[];
}

/**
 * Reads and writes at fixed rates, whatever the answers take: a server that
 * waits gets as many requests as before, as from clients that know nothing of each other.
 */
export class OpenLoad {
	readonly acknowledged: Acknowledged[] = [];
	/** The first of them, as sentences. */
	readonly failures: string[] = [];
	/** When the newest read began that showed an object, by its id. Milliseconds. */
	readonly shown = new Map<string, number>();
	/** When each read was answered, what it took, and what was read; null: nothing yet. Milliseconds. */
	readonly answered: {
		readonly at: number;
		readonly ms: number;
		readonly id: string | null;
	}[] = [];
	reads = 0;
	writes = 0;
	failed = 0;
	/** Failed requests that a server refused at once because it had too much to do, as it promises. */
	refused = 0;
	slowestReadMs = 0;
	slowestWriteMs = 0;
	readonly #clients: readonly Client[];
	readonly #writers: readonly Writer[];
	readonly #keptFailures: number;
	readonly #running = new Set<Promise<void>>();
	#writing = 0;
	readonly #timer: NodeJS.Timeout;

	constructor(options: {
		readonly clients: readonly Client[];
		readonly writers: readonly Writer[];
		/** A second. */
		readonly reads: number;
		readonly writes: number;
		/** Most writes that wait for their answers (default: any number). If a machine is slow, a list gets no more writes than it can take. */
		readonly mostWrites?: number;
		/** How many failures are kept as sentences. */
		readonly keptFailures?: number;
	}) {
		const { mostWrites = Number.POSITIVE_INFINITY } = options;
		this.#keptFailures = options.keptFailures ?? KEPT_FAILURES;
		this.#clients = options.clients;
		this.#writers = options.writers;
		const began = performance.now();
		this.#timer = setInterval(() => {
			const seconds = (performance.now() - began) / 1_000;
			while (
				this.writes < seconds * options.writes &&
				this.#writing < mostWrites
			) {
				this.#start("write");
			}
			while (this.reads < seconds * options.reads) this.#start("read");
		}, TICK_MS);
	}

	/** What it came to, with what failed besides. */
	report(besides: readonly string[] = []): LoadReport {
		const { reads, writes, slowestReadMs, slowestWriteMs, refused } = this;
		return {
			reads,
			writes,
			slowestReadMs,
			slowestWriteMs,
			failed: this.failed - refused + besides.length,
			refused,
			failures: [...this.failures, ...besides],
		};
	}

	/** Ends it, after the last answer. */
	async end(): Promise<void> {
		clearInterval(this.#timer);
		await Promise.all(this.#running);
	}

	#start(kind: "read" | "write"): void {
		const number = kind === "read" ? this.reads++ : this.writes++;
		const began = performance.now();
		if (kind === "write") this.#writing++;
		const wanted = kind === "read" ? this.#wanted() : undefined;
		const running = (
			kind === "write"
				? this.#write(number)
				: wanted === undefined
					? Promise.resolve()
					: this.#read(number, wanted)
		)
			.catch((thrown: Error) => {
				this.failed++;
				if (thrown.message.includes(REFUSAL)) this.refused++;
				if (this.failures.length < this.#keptFailures) {
					this.failures.push(`${kind}: ${thrown.message}`);
				}
			})
			.finally(() => {
				const ms = performance.now() - began;
				if (kind === "read") {
					this.slowestReadMs = Math.max(this.slowestReadMs, ms);
					this.answered.push({ at: began + ms, ms, id: wanted?.id ?? null });
				} else {
					this.#writing--;
					this.slowestWriteMs = Math.max(this.slowestWriteMs, ms);
				}
				this.#running.delete(running);
			});
		this.#running.add(running);
	}

	async #write(number: number): Promise<void> {
		const began = performance.now();
		const { token, boardId } = at(this.#writers, number);
		const title = `write ${number}`;
		const { made } = (await at(this.#clients, number).ask(
			"mutation ($input: CreatePinInput!) { made: createPin(input: $input) { pin { id } } }",
			{ input: { boardId, title } },
			token,
		)) as { readonly made: { readonly pin: { readonly id: string } } };
		const ended = performance.now();
		this.acknowledged.push({
			id: made.pin.id,
			title,
			at: ended,
			ms: ended - began,
			by: number % this.#clients.length,
		});
	}

	#wanted(): Acknowledged | undefined {
		const recent = this.acknowledged.slice(-READ_AMONG);
		return recent[Math.floor(Math.random() * recent.length)];
	}

	async #read(number: number, wanted: Acknowledged): Promise<void> {
		const began = performance.now();
		const { pin } = (await at(this.#clients, number).ask(
			"query ($id: ID!) { pin(id: $id) { title } }",
			{ id: wanted.id },
		)) as { readonly pin: { readonly title: string } | null };
		if (pin?.title !== wanted.title) {
			throw new Error(
				`expected ${wanted.title} of ${wanted.id} but got: ${pin?.title ?? null}`,
			);
		}
		const last = this.shown.get(wanted.id) ?? 0;
		this.shown.set(wanted.id, Math.max(last, began));
	}
}

/** What the servers show of these ids in the end: titles of pins and names of users, by id. */
export async function readTitles(
	clients: readonly Client[],
	ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
	const titles = new Map<string, string>();
	for (let from = 0; from < ids.length; from += LOOKED_AT) {
		const { nodes } = (await at(clients, from / LOOKED_AT).ask(
			"query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Pin { title } ... on User { username } } }",
			{ ids: ids.slice(from, from + LOOKED_AT) },
		)) as {
			readonly nodes: readonly ({
				readonly id: string;
				readonly title?: string;
				readonly username?: string;
			} | null)[];
		};
		for (const node of nodes) {
			if (node) titles.set(node.id, node.title ?? node.username ?? "");
		}
	}
	return titles;
}

function at<T>(some: readonly T[], number: number): T {
	return some[number % some.length] as T;
}
