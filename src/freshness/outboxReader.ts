import type { Outbox, OutboxLook, SeenEntries } from "../storage/rows.ts";
import type { Storage } from "../storage/storage.ts";

/** From the begin of one look at a host's outbox to that of the next, 20 % more or less so that processes that started together do not read together. Milliseconds. */
const INTERVAL_MS = 1_000;
const JITTER = 0.2;
/** The same while somebody learns from there alone what others change. */
const HURRIED_MS = 400;
/** The others take part in one of so many of these looks. */
const HURRIED_LOOKS = 3;

/** Somebody who wants to know what is in outboxes. */
interface OutboxUser {
	/** What it wants of the next look at an outbox; null: nothing. */
	readonly asks: (outbox: Outbox) => OutboxQuestion | null;
	/** Called before the looks of each second. */
	readonly onLooks?: () => void;
	/** Whether it wants to know more often. */
	readonly isHurried?: () => boolean;
}

export interface OutboxQuestion extends Partial<Omit<OutboxLook, "outbox">> {
	/** Called with the result, unless the outbox could not be read. The next look at it waits. It must not reject. */
	readonly use: (seen: SeenEntries) => Promise<void> | void;
}

/**
 * Reads each outbox about once a second, by one statement for all in this process
 * who want to know what is there. A host that does not answer delays no other.
 */
export class OutboxReader implements AsyncDisposable {
	readonly #storage: Pick<Storage, "map" | "read">;
	readonly #users = new Set<OutboxUser>();
	readonly #running = new Map<string, Promise<void>>();
	#timer: NodeJS.Timeout | undefined;
	#hurriedLooks = 0;
	#isStopped = false;

	constructor(storage: Pick<Storage, "map" | "read">) {
		this.#storage = storage;
	}

	/** The first looks begin at once, in the background. */
	add(user: OutboxUser): Disposable {
		this.#users.add(user);
		this.lookSoon();
		return { [Symbol.dispose]: () => this.#users.delete(user) };
	}

	lookSoon(): void {
		this.#startIn(0);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isStopped = true;
		clearTimeout(this.#timer);
		await Promise.all(this.#running.values());
	}

	/** As long as anybody wants to know. */
	#startIn(ms: number): void {
		if (this.#isStopped || this.#users.size === 0) return;
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => {
			const hurried = [...this.#users].filter((user) => user.isHurried?.());
			const isHurried = hurried.length > 0;
			const isForAll = !isHurried || this.#hurriedLooks++ % HURRIED_LOOKS === 0;
			this.#start(isForAll ? [...this.#users] : hurried);
			const ms = isHurried ? HURRIED_MS : INTERVAL_MS;
			this.#startIn(ms * (1 + JITTER * (2 * Math.random() - 1)));
		}, ms).unref();
	}

	#start(users: readonly OutboxUser[]): void {
		for (const { onLooks } of users) onLooks?.();
		for (const outbox of this.#storage.map.outboxes) {
			const { host } = outbox;
			if (this.#running.has(host)) continue;
			const look = this.#look(outbox, users).finally(() =>
				this.#running.delete(host),
			);
			this.#running.set(host, look);
		}
	}

	async #look(outbox: Outbox, users: readonly OutboxUser[]): Promise<void> {
		const questions = users
			.map(({ asks }) => asks(outbox))
			.filter((question) => question !== null);
		if (questions.length === 0) return;
		const first = <Part extends "untaken" | "due">(part: Part) =>
			questions.find((question) => question[part])?.[part] ?? null;
		const look = {
			outbox,
			untaken: first("untaken"),
			due: first("due"),
			next: questions.some(({ next }) => next),
		};
		const [seen] = await this.#storage
			.read("outboxes", [look])
			.catch((): readonly undefined[] => []);
		if (seen === undefined || seen instanceof Error) return;
		await Promise.all(questions.map(({ use }) => use(seen)));
	}
}
