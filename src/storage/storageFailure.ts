import { CorkboardError } from "../errors.ts";

/**
 * Why a statement failed, by what has to be done about it:
 *
 * - `connectionLost`: there was no connection, or it ended.
 * - `timeout`: no answer in time; whether the statement ran is unknown.
 * - `hostDown`: the last calls got no answer, so nothing was sent.
 * - `poolExhausted`: no connection came free in time, or too many callers wait for one.
 * - `conflict`: a deadlock or a lock wait timeout; the transaction may be run again.
 * - `readOnly`: the server takes no writes, as after a promotion (docs/consistency.md, 6. Topology).
 * - `stopped`: a failover has lost what was acknowledged, and nobody has accepted that yet (docs/consistency/topology.md, "A name that leads to another server").
 * - `moved`: the server has no such database or table; a newer topology may say where it is (docs/consistency.md, 6. Topology).
 * - `diskFull`: the disk has no space left; nothing was done.
 * - `constraint`: a row breaks a rule of its table.
 * - `unsupported`: the server's version or settings are not those we rely on.
 * - `unknownOutcome`: COMMIT was sent and failed, or its answer did not come. The cause says why.
 * - `failed`: any other error of the server.
 */
export type FailureKind =
	| "connectionLost"
	| "timeout"
	| "hostDown"
	| "poolExhausted"
	| "conflict"
	| "readOnly"
	| "stopped"
	| "moved"
	| "diskFull"
	| "constraint"
	| "unsupported"
	| "unknownOutcome"
	| "failed";

/**
 * What both drivers throw. It is for the log: it names the host and carries the
 * server's own message. Callers of the storage port get `toStorageError` of it.
 */
export class StorageFailure extends Error {
	readonly kind: FailureKind;
	/** `host:port` of a server, or the name of a shard's file. */
	readonly host: string;
	/** As `Statement.name`. */
	readonly statement: string;
	/** The database's error number; null if the database said nothing. */
	readonly errno: number | null;

	constructor(
		kind: FailureKind,
		message: string,
		options: {
			readonly host: string;
			readonly statement: string;
			readonly errno?: number;
			/** The cause of an unknown outcome. Never an error of a driver, which may hold a connection. */
			readonly cause?: unknown;
		},
	) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		// Now text. Until it is read it holds what threw: a connection.
		void this.stack;
		this.name = "StorageFailure";
		this.kind = kind;
		this.host = options.host;
		this.statement = options.statement;
		this.errno = options.errno ?? null;
	}
}

/** Whether nothing of a transaction was done, because of rows of others or of one of its databases, as far as the failure says. */
export function mayBeOfOneShard(thrown: unknown): boolean {
	return (
		thrown instanceof CorkboardError &&
		// The failure itself: of an unknown outcome `details` have the kind of its cause.
		thrown.cause instanceof StorageFailure &&
		OF_ONE_SHARD.has(thrown.cause.kind)
	);
}

const OF_ONE_SHARD: ReadonlySet<FailureKind> = new Set<FailureKind>([
	"conflict",
	"readOnly",
	"moved",
	"constraint",
	"failed",
]);

/** Whether the server understood, and has no such table or permits no such statement. */
export function isRefusal(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure &&
		(thrown.kind === "failed" || thrown.kind === "moved")
	);
}

const NO_ANSWER = "does not answer at the moment.";
/** What clients read of a shard that takes no writes. */
const REASONS: Partial<Readonly<Record<FailureKind, string>>> = {
	diskFull: "takes no writes: its disk is full.",
	stopped:
		"takes no writes: a failover has lost some, which an operator has to accept.",
};

/**
 * The error that callers of the storage port get. Its message may reach a
 * client and names only the shard; `details` are for the log. Its `kind` is
 * that of the failure, or of the cause of an unknown outcome.
 */
export function toStorageError(
	failure: StorageFailure,
	shard: number,
): CorkboardError {
	const { cause } = failure;
	const isUnknown = failure.kind === "unknownOutcome";
	const { kind, host, statement, errno, message } =
		isUnknown && cause instanceof StorageFailure ? cause : failure;
	const details = { host, shard, statement, kind, errno, reason: message };
	const options = { cause: failure, details };
	if (kind === "constraint" && !isUnknown) {
		return new CorkboardError(
			"INTERNAL",
			`Shard ${shard} refused a row that breaks a rule of its table.`,
			options,
		);
	}
	return new CorkboardError(
		"UNAVAILABLE",
		`Shard ${shard} ${REASONS[kind] ?? NO_ANSWER}`,
		options,
	);
}
