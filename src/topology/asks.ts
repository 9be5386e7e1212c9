import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Member, readMembers } from "./members.ts";
import type { ReadableStore } from "./store.ts";

/**
 * Questions that an operation asks all processes of the fleet, at `asks/ID`.
 * Each process answers at `answers/ID.MEMBER`, for as long as the question stands.
 */
const ASKS = "asks";
const ANSWERS = "answers";

/** What is known of a database host. */
export interface HostQuestion {
	/** `host:port` */
	readonly host: string;
	/** A set of GTIDs whose writes are to be named; null: none. */
	readonly missing: string | null;
	/** The server that the asking process found behind the host's name. */
	readonly server?: string;
}

export interface HostAnswer {
	/** What the host has acknowledged to this process, as a set of GTIDs. */
	readonly acknowledged: string;
	/** `idle`: it has not spoken to the host just now. */
	readonly state: "reached" | "lost" | "idle";
	/** Those of the question's missing transactions that this process remembers. */
	readonly writes: readonly RememberedWrite[];
}

/** A write that was acknowledged. */
export interface RememberedWrite {
	readonly gtid: string;
	/** When the answer came: milliseconds since 1970. */
	readonly at: number;
	/** Names of objects and edges; empty if that is not known. */
	readonly wrote: readonly string[];
}

export interface Answers {
	readonly answered: readonly {
		readonly member: Member;
		readonly answer: HostAnswer;
	}[];
	/** Those who did not answer in time. */
	readonly silent: readonly Member[];
}

const LOOK_MS = 100;

/** Asks all members, and waits until all have answered, at most `ms`. */
export async function askMembers(
	store: Pick<ReadableStore, "get" | "list" | "announce">,
	question: HostQuestion,
	ms: number,
): Promise<Answers> {
	const id = `${Date.now()}-${randomBytes(3).toString("hex")}`;
	// It goes with the process that asks.
	await using asking = store.announce(`${ASKS}/${id}`);
	await asking.set(JSON.stringify(question));
	const until = performance.now() + ms;
	for (;;) {
		const answers = await collect(store, id);
		if (answers.silent.length === 0 || performance.now() > until) {
			return answers;
		}
		await sleep(LOOK_MS);
	}
}

async function collect(
	store: Pick<ReadableStore, "get" | "list">,
	id: string,
): Promise<Answers> {
	const answered: Answers["answered"][number][] = [];
	const silent: Member[] = [];
	for (const member of await readMembers(store)) {
		const found = await store.get(`${ANSWERS}/${id}.${member.id}`);
		if (found === null) silent.push(member);
		else answered.push({ member, answer: JSON.parse(found.text) });
	}
	return { answered, silent };
}

/** Answers the questions that stand, until it is disposed of. A store that does not answer is no error. */
export function answerAsks(
	store: Pick<ReadableStore, "get" | "list" | "watch" | "announce">,
	member: string,
	answerTo: (question: HostQuestion) => HostAnswer,
): AsyncDisposable {
	const standing = new Map<string, AsyncDisposable>();
	let running = Promise.resolve();
	const look = async () => {
		const ids = await store.list(ASKS);
		for (const id of ids) {
			if (standing.has(id)) continue;
			const question = await store.get(`${ASKS}/${id}`);
			if (question === null) continue;
			const announcement = store.announce(`${ANSWERS}/${id}.${member}`);
			standing.set(id, announcement);
			const answer = answerTo(JSON.parse(question.text));
			await announcement.set(JSON.stringify(answer));
		}
		for (const [id, announcement] of standing) {
			if (ids.includes(id)) continue;
			standing.delete(id);
			await announcement[Symbol.asyncDispose]();
		}
	};
	const watch = store.watch(ASKS, () => {
		running = running.then(look).catch(() => {});
	});
	return {
		async [Symbol.asyncDispose]() {
			watch[Symbol.dispose]();
			await running;
			for (const announcement of standing.values()) {
				await announcement[Symbol.asyncDispose]();
			}
		},
	};
}
