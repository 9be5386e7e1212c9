import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { operator } from "../../topology/history.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";

/** How long the last sign of life of a holder has to be the same before somebody else may take its operation over. Milliseconds. */
export const HOLDER_MS = 3_000;
/** Between two signs of life. Milliseconds. */
export const BEAT_MS = 1_000;
const LOOK_MS = 250;
/** Beyond this between two looks, the looking process or the store was paused, and the holder's signs may have waited with it. Milliseconds. */
const STALL_MS = 1_000;
/** A look that cannot be relied on for so long says that somebody holds it. Milliseconds. */
const GIVE_UP_MS = 30_000;

export interface LookOptions {
	readonly holderMs?: number;
	readonly lookMs?: number;
}

/** What a look at the holder of an operation has found. */
interface HolderLook {
	readonly isHeld: boolean;
	/** The revision of its last sign of life, which a take-over expects to be the same; null: it has left none. */
	readonly revision: string | null;
}

/** `anna@ops1/4711-5be3a1`, of this process. */
export function holderName(): string {
	return `${operator()}/${process.pid}-${randomBytes(3).toString("hex")}`;
}

/** Whether a holder is the process of this id, on this machine. */
export function isProcess(holder: string, pid: number): boolean {
	return holder.startsWith(`${operator()}/${pid}-`);
}

export const beatPath = (id: string) => `heartbeats/${id}`;

/** The first sign of life of a holder, to be written together with the record. */
export function firstBeat(
	id: string,
	holder: string,
	revision: string | null,
): StoreChange {
	return { path: beatPath(id), revision, text: beatText(holder) };
}

/**
 * Whether somebody runs an operation: whether the sign of life that its holder
 * writes each second changes within three. No clock is compared with another's:
 * those of two machines may differ by more than that, and so may those of two
 * servers of the store. Nothing is waited for if the holder has left by itself.
 */
export async function lookAtHolder(
	store: Pick<TopologyStore, "get">,
	id: string,
	{ holderMs = HOLDER_MS, lookMs = LOOK_MS }: LookOptions = {},
): Promise<HolderLook> {
	const first = await store.get(beatPath(id));
	if (first === null) return { isHeld: false, revision: null };
	const { revision } = first;
	const began = performance.now();
	let since = began;
	let last = began;
	for (;;) {
		await sleep(lookMs);
		const found = await store.get(beatPath(id));
		if (found === null) return { isHeld: false, revision: null };
		const now = performance.now();
		if (found.revision !== revision || now - began > GIVE_UP_MS) {
			return { isHeld: true, revision: found.revision };
		}
		if (now - last > lookMs + STALL_MS) since = now;
		last = now;
		if (now - since >= holderMs) return { isHeld: false, revision };
	}
}

export async function isHeld(
	store: Pick<TopologyStore, "get">,
	id: string,
	options?: LookOptions,
): Promise<boolean> {
	return (await lookAtHolder(store, id, options)).isHeld;
}

/** Writes the signs of life of one holder until it is disposed of, or another holder has written its own. */
export class SignsOfLife implements AsyncDisposable {
	readonly #store: Pick<TopologyStore, "get" | "write">;
	readonly #id: string;
	readonly #holder: string;
	readonly #timer: NodeJS.Timeout;
	#running: Promise<void> = Promise.resolve();
	#report = "";

	constructor(
		store: Pick<TopologyStore, "get" | "write">,
		id: string,
		holder: string,
	) {
		this.#store = store;
		this.#id = id;
		this.#holder = holder;
		this.#timer = setInterval(() => {
			// If the store does not answer, the next one may.
			this.#running = this.#running.then(() =>
				this.#write(beatText(holder, this.#report)).catch(() => {}),
			);
		}, BEAT_MS).unref();
	}

	/** What the next ones say of how far the holder is. */
	report(text: string): void {
		this.#report = text;
	}

	/** Somebody else may continue at once after that. */
	async [Symbol.asyncDispose](): Promise<void> {
		clearInterval(this.#timer);
		await this.#running;
		await this.#write(null).catch(() => {});
	}

	async #write(text: string | null): Promise<void> {
		const path = beatPath(this.#id);
		const found = await this.#store.get(path);
		if (found === null || !found.text.startsWith(`${this.#holder} `)) {
			clearInterval(this.#timer);
			return;
		}
		await this.#store.write([{ path, revision: found.revision, text }]);
	}
}

/** The store gives each write another revision, so that the time is for people alone. */
function beatText(holder: string, report = ""): string {
	return `${holder} ${new Date().toISOString()} ${report}`.trim();
}

/** What the last sign of life says of how far its holder is; null: there is none, or it says nothing. */
export async function readReport(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<string | null> {
	const text = (await store.get(beatPath(id)))?.text ?? "";
	return /^\S+ \S+ (.+)$/s.exec(text)?.[1] ?? null;
}
