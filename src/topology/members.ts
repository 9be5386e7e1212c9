import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { listen } from "../diagnostics.ts";
import { sureSeconds } from "../util/sureSeconds.ts";
import { TOPOLOGY_CHANNELS } from "./diagnostics.ts";
import type { Announcement, ReadableStore } from "./store.ts";

/**
 * Which servers of shared caches a process speaks to, by part: "objects" and
 * "lists" of the settings, "lists HOST" for each Redis of the map. Null: it does
 * not know yet, or uses none.
 */
export type SpokenTo = Readonly<Record<string, string | null>>;

/** A process that serves a topology, as it announces itself. */
export interface Member {
	readonly id: string;
	/** The version that new calls start on; 0 while it starts. */
	readonly version: number;
	/** The oldest version on which a call still runs; 0 while it starts. */
	readonly oldest: number;
	/** `serve`, `worker`, or the command that it is. */
	readonly role: string;
	readonly host: string;
	readonly pid: number;
	/** When it started: milliseconds since 1970. */
	readonly since: number;
	/** Fingerprint of the lock file of its model. */
	readonly model: string;
	/** Whole seconds that its clock is before (negative: behind) those of most database hosts; 0 if they may agree. */
	readonly clock: number;
	/** The servers of shared caches that it speaks to. */
	readonly caches: SpokenTo;
}

/** What a process says of itself. */
export interface MemberIdentity {
	readonly role: string;
	readonly model: string;
}

const MEMBERS = "members";

/** This process among the members of a fleet, until it is disposed of. */
export class Membership implements AsyncDisposable {
	readonly id: string;
	readonly #identity: MemberIdentity;
	readonly #announcement: Announcement;
	readonly #since = Date.now();
	readonly #ownClock: OwnClock;
	#served: readonly [version: number, oldest: number] | null = null;
	#clock = 0;
	#caches: SpokenTo = {};
	#said = "";

	constructor(
		store: Pick<ReadableStore, "announce">,
		identity: MemberIdentity,
	) {
		const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, "-");
		this.id = `${host}-${process.pid}-${randomBytes(3).toString("hex")}`;
		this.#identity = identity;
		this.#announcement = store.announce(`${MEMBERS}/${this.id}`);
		this.#ownClock = new OwnClock((seconds) => {
			this.#clock = seconds;
			if (this.#served !== null) void this.say(...this.#served);
		});
	}

	/**
	 * Says what it serves. Before it reads a topology it says 0: on a store whose
	 * followers lag, its own write makes what it reads next current. A store that
	 * does not answer is no error: it gets the text when it answers again.
	 */
	async say(version: number, oldest: number): Promise<void> {
		this.#served = [version, oldest];
		const { role, model } = this.#identity;
		const text = JSON.stringify({
			version,
			oldest,
			role,
			host: hostname(),
			pid: process.pid,
			since: this.#since,
			model,
			clock: this.#clock,
			caches: this.#caches,
		});
		if (text === this.#said) return;
		this.#said = text;
		await this.#announcement.set(text).catch(() => {});
	}

	/** Says which servers of shared caches it speaks to, too. */
	async speakTo(caches: SpokenTo): Promise<void> {
		this.#caches = caches;
		if (this.#served !== null) await this.say(...this.#served);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#ownClock[Symbol.dispose]();
		await this.#announcement[Symbol.asyncDispose]();
	}
}

/** The processes that serve now, by id. Throws UNAVAILABLE. */
export async function readMembers(
	store: Pick<ReadableStore, "get" | "list">,
): Promise<readonly Member[]> {
	const ids = await store.list(MEMBERS);
	const members = await Promise.all(
		ids.map(async (id): Promise<Member | null> => {
			const found = await store.get(`${MEMBERS}/${id}`);
			return found === null ? null : memberOf(id, found.text);
		}),
	);
	return members.filter((member) => member !== null);
}

/** Somebody who cannot be understood counts as one who serves nothing yet. */
function memberOf(id: string, text: string): Member {
	let said: Partial<Member> = {};
	try {
		said = JSON.parse(text);
	} catch {
		// It is listed as a member all the same.
	}
	const textOrNull = (value: unknown) =>
		typeof value === "string" ? value : null;
	const number = (value: unknown) =>
		Number.isSafeInteger(value) ? Number(value) : 0;
	return {
		id,
		version: number(said.version),
		oldest: number(said.oldest),
		role: String(said.role ?? "unknown"),
		host: String(said.host ?? "unknown"),
		pid: number(said.pid),
		since: number(said.since),
		model: String(said.model ?? ""),
		clock: number(said.clock),
		caches: Object.fromEntries(
			Object.entries(said.caches ?? {}).map(([part, servers]) => [
				part,
				textOrNull(servers),
			]),
		),
	};
}

/** How far the clock of this process is from those of the database hosts that it has asked, most of which are taken to be right. */
class OwnClock implements Disposable {
	/** How far each host's clock is surely before this process's. Seconds. */
	readonly #hosts = new Map<string, number>();
	readonly #onChange: (seconds: number) => void;
	#seconds = 0;

	/** `onChange` is called with whole seconds before (negative: behind) those of the hosts. */
	constructor(onChange: (seconds: number) => void) {
		this.#onChange = onChange;
	}

	readonly #listening = listen(TOPOLOGY_CHANNELS.databaseClock, (clock) => {
		this.#hosts.set(clock.host, sureSeconds(clock));
		const seconds = -Math.round(medianOf([...this.#hosts.values()])) || 0;
		if (seconds === this.#seconds) return;
		this.#seconds = seconds;
		this.#onChange(seconds);
	});

	[Symbol.dispose](): void {
		this.#listening[Symbol.dispose]();
	}
}

/** The median; if two values are in the middle, the one nearer to 0. */
function medianOf(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
	const high = sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0;
	return Math.abs(low) <= Math.abs(high) ? low : high;
}
