import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { seededRandom } from "../../src/util/random.ts";
import { answerOf } from "../load/answerOf.ts";
import { signToken } from "../requests.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import type { World } from "../world.ts";
import type {
	Person,
	SessionLoad,
	SessionResult,
	ToSender,
} from "./messages.ts";
import type { SessionOptions } from "./options.ts";
import type { System } from "./systems.ts";

const SENDER = join(import.meta.dirname, "sender.ts");
/** Beyond the time that the load takes by itself. */
const EXTRA_LIMIT_MS = 60_000;

/** The process of all people, by database. */
export class Crowds implements AsyncDisposable {
	readonly #child: ChildProcess;
	readonly people: ReadonlyMap<System["crowd"], readonly Person[]>;

	private constructor(
		child: ChildProcess,
		people: ReadonlyMap<System["crowd"], readonly Person[]>,
	) {
		this.#child = child;
		this.people = people;
	}

	static async start(
		world: World,
		systems: readonly System[],
		{ habits, people: count, sessions, seed }: SessionOptions,
	): Promise<Crowds> {
		const child = fork(SENDER, { serialization: "advanced" });
		moveToOtherCores(child.pid as number);
		const all = new Map<System["crowd"], readonly Person[]>();
		const popular = byFollowers(world.graph);
		for (const system of systems) {
			if (all.has(system.crowd)) continue;
			const people = await peopleOf(world, system, {
				count,
				signedIn: habits.signedIn,
				seed,
			});
			all.set(system.crowd, people);
			const message: ToSender = {
				crowd: {
					name: system.crowd,
					people,
					sessions,
					habits,
					seed,
					popular: popular.map((user) =>
						world.idOf(system.variant, `u:${user + 1}`),
					),
				},
			};
			child.send(message);
			await answerOf(child, EXTRA_LIMIT_MS);
		}
		return new Crowds(child, all);
	}

	async send(load: SessionLoad): Promise<SessionResult> {
		const message: ToSender = { load };
		this.#child.send(message);
		const limit = load.seconds * 1_000 + EXTRA_LIMIT_MS;
		return (await answerOf(this.#child, limit)) as SessionResult;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#child.exitCode !== null) return;
		const ended = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await ended;
	}
}

function byFollowers({ users, follows }: World["graph"]): readonly number[] {
	const followers = new Uint32Array(users.length);
	for (const { to } of follows) followers[to] = (followers[to] as number) + 1;
	return users
		.map((_, n) => n)
		.toSorted((a, b) => (followers[b] as number) - (followers[a] as number));
}

async function peopleOf(
	{ graph, idOf }: World,
	{ variant, isOurs }: System,
	{
		count,
		signedIn,
		seed,
	}: {
		readonly count: number;
		readonly signedIn: number;
		readonly seed: number;
	},
): Promise<readonly Person[]> {
	const boards = Map.groupBy(
		graph.boards.keys(),
		(n) => graph.boards[n]?.owner,
	);
	const followees = Map.groupBy(graph.follows, ({ from }) => from);
	const random = seededRandom(seed);
	const chosen = random.shuffled([...graph.users.keys()]).slice(0, count);
	return Promise.all(
		chosen.map(async (n, index): Promise<Person> => {
			const user = idOf(variant, `u:${n + 1}`);
			return {
				user,
				token:
					index < chosen.length * signedIn
						? await signToken(isOurs ? user : String(n + 1))
						: null,
				boards: (boards.get(n) ?? []).map((board) =>
					idOf(variant, `b:${board + 1}`),
				),
				followees: (followees.get(n) ?? []).map(({ to }) =>
					idOf(variant, `u:${to + 1}`),
				),
			};
		}),
	);
}
