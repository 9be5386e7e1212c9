import { listen } from "../../../diagnostics.ts";
import { STORAGE_CHANNELS } from "../../diagnostics.ts";

/** How often a name whose server takes no writes is asked again, at most. Milliseconds. */
const ASK_AGAIN_MS = 500;
/** How long a name that led to a writable server and does not any more is asked. */
const ASK_AGAIN_FOR_MS = 120_000;

/** A server, as it names itself in the first answer of a session. */
export interface ServerIdentity {
	/** MySQL's `server_uuid`; of MariaDB, which may have none, its id, machine and port. */
	readonly id: string;
	readonly takesWrites: boolean;
	/** Whether it numbers its transactions as MySQL does, so that it can say which it has. */
	readonly hasGtids: boolean;
}

/** What a host does about it. */
interface ServerUses {
	/** Connections of before are not lent any more. */
	closeIdle(): void;
	/** Opens a session in the background, which finds out. */
	openSession(): void;
	/** Another server than the last one takes writes: called before they are sent. */
	onWriter(found: ServerIdentity, before: string | null): void;
}

/**
 * The one server that a host's name leads to: the newest session decides. A name
 * may lead to another server from one second to the next, while connections stay
 * where they were.
 */
export class CurrentServer implements Disposable {
	readonly #host: string;
	readonly #uses: ServerUses;
	/** The last one that took writes. */
	#writer: string | null = null;
	/** Runs while the name may be about to lead to another server. */
	#timer: NodeJS.Timeout | null = null;
	#refusedAt = Number.NEGATIVE_INFINITY;
	#found: ServerIdentity | null = null;
	#sessions = 0;
	#newest = 0;
	#generation = 0;

	constructor(host: string, uses: ServerUses) {
		this.#host = host;
		this.#uses = uses;
	}

	/** A connection of another generation is not lent again. */
	get generation(): number {
		return this.#generation;
	}

	/** Null before the first session. */
	get identity(): ServerIdentity | null {
		return this.#found;
	}

	/** A number for a session, before it connects: a later one is newer. */
	begin(): number {
		this.#sessions += 1;
		return this.#sessions;
	}

	/** What the session found. Returns its generation; null: a newer session has found another server. */
	found(session: number, found: ServerIdentity): number | null {
		const before = this.#found;
		if (before === null || !isChange(before, found)) {
			if (session >= this.#newest) this.#use(session, found);
			return this.#generation;
		}
		if (session < this.#newest) return null;
		this.#use(session, found);
		this.#generation += 1;
		STORAGE_CHANNELS.databaseServer.publish({
			host: this.#host,
			server: found.id,
			before: before.id,
			takesWrites: found.takesWrites,
		});
		this.#uses.closeIdle();
		if (!found.takesWrites) this.#askAgain();
		return this.#generation;
	}

	/** The server refused a write, so the next session has to ask again. */
	refusedWrite(): void {
		const now = performance.now();
		const isNews = this.#found?.takesWrites === true;
		// It has just been so, for another.
		if (!isNews && now - this.#refusedAt < ASK_AGAIN_MS) return;
		this.#refusedAt = now;
		this.#generation += 1;
		this.#uses.closeIdle();
	}

	[Symbol.dispose](): void {
		this.#listening[Symbol.dispose]();
		if (this.#timer !== null) clearInterval(this.#timer);
	}

	readonly #listening = listen(
		STORAGE_CHANNELS.foundElsewhere,
		({ host, server }) => {
			if (host !== this.#host || this.#found === null) return;
			if (this.#found.id === server) return;
			this.refusedWrite();
			this.#uses.openSession();
		},
	);

	/** Opens sessions until one takes writes: a process that only reads would notice a new server late. */
	#askAgain(): void {
		if (this.#timer !== null) clearInterval(this.#timer);
		const until = performance.now() + ASK_AGAIN_FOR_MS;
		const timer = setInterval(() => {
			const isFound = this.#found?.takesWrites === true;
			if (isFound || performance.now() > until) clearInterval(timer);
			else this.#uses.openSession();
		}, ASK_AGAIN_MS).unref();
		this.#timer = timer;
	}

	#use(session: number, found: ServerIdentity): void {
		this.#newest = session;
		this.#found = found;
		if (!found.takesWrites || found.id === this.#writer) return;
		const before = this.#writer;
		this.#writer = found.id;
		this.#uses.onWriter(found, before);
	}
}

/** Between two that take no writes, nothing is committed: a name may lead to several replicas. */
function isChange(before: ServerIdentity, found: ServerIdentity): boolean {
	return before.id === found.id
		? before.takesWrites && !found.takesWrites
		: before.takesWrites || found.takesWrites;
}
