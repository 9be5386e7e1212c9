import type { StatementTrace } from "../../../trace.ts";
import type { Deadline } from "../../../util/deadline.ts";
import type { Row } from "./mysql2Connection.ts";

/** Options of one statement. */
export interface QueryOptions {
	readonly shard: number;
	readonly deadline: Deadline;
	readonly trace?: StatementTrace | undefined;
	/** See `CallOptions.decides`. */
	readonly decides?: boolean | undefined;
	/** Whether `shard` is a mod shard. */
	readonly onModShard?: boolean;
	/**
	 * Whether a connection that could not be opened in time is tried again until
	 * the deadline: for the commands of operators, who rather wait than repeat
	 * them while the server or this machine is busy.
	 */
	readonly isPatient?: boolean;
	/** How long a transaction may take once it has a connection. Milliseconds. */
	readonly heldMs?: number | undefined;
	/** Whether a transaction is not repeated after a deadlock or a lock wait timeout. */
	readonly isTriedOnce?: boolean;
	/** Called once the statement has a connection, before it is sent; again where it is repeated. */
	readonly onSent?: (() => void) | undefined;
	/** How many rows to report; one each if absent. */
	readonly countRows?: (rows: readonly Row[]) => number;
	/** How many requests the statements serve; one if absent. */
	readonly requests?: number;
}
