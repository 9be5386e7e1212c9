import { CHANNELS, type DatabaseServer } from "../../../diagnostics.ts";

/** A server, as it names itself in the first answer of a session. */
export interface ServerIdentity {
	/** MySQL's `server_uuid`; of MariaDB, which may have none, its id, machine and port. */
	readonly id: string;
	readonly takesWrites: boolean;
	/** Whether it numbers its transactions as MySQL does, so that it can say which it has. */
	readonly hasGtids: boolean;
}

/**
 * The one server that a host's name leads to: the newest session decides. A name
 * may lead to another server from one second to the next, while connections stay
 * where they were.
 */
export class CurrentServer {
	readonly #host: string;
	readonly #onChange: (found: ServerIdentity, before: ServerIdentity) => void;
	#found: ServerIdentity | null = null;
	#sessions = 0;
	#newest = 0;
	#generation = 0;

	constructor(
		host: string,
		/** Connections of before are not lent any more. */
		onChange: (found: ServerIdentity, before: ServerIdentity) => void,
	) {
		this.#host = host;
		this.#onChange = onChange;
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
			if (session >= this.#newest) this.#found = found;
			this.#newest = Math.max(this.#newest, session);
			return this.#generation;
		}
		if (session < this.#newest) return null;
		this.#found = found;
		this.#newest = session;
		this.#generation += 1;
		CHANNELS.databaseServer.publish({
			host: this.#host,
			server: found.id,
			before: before.id,
			takesWrites: found.takesWrites,
		} satisfies DatabaseServer);
		this.#onChange(found, before);
		return this.#generation;
	}

	/** The server refused a write. Where it took writes before, the next session has to ask again. */
	refusedWrite(): void {
		if (this.#found?.takesWrites) this.#generation += 1;
	}
}

/** Between two that take no writes, nothing is committed: a name may lead to several replicas. */
function isChange(before: ServerIdentity, found: ServerIdentity): boolean {
	return before.id === found.id
		? before.takesWrites && !found.takesWrites
		: before.takesWrites || found.takesWrites;
}
