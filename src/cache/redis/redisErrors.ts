/**
 * What an error reply of Redis means to the sender of the command:
 *
 * - `full`: it has no memory for what a write adds. It deletes as before.
 * - `demoted`: it is a replica now. Another server takes the writes.
 * - `refused`: it answers, and refuses this command for now.
 * - `forbidden`: the user may not run this command, or not with this key.
 * - `unready`: it can serve nobody now.
 * - `credentials`: it does not know the user.
 * - `cluster`: it is a node of a Redis Cluster.
 * - `other`: what a server says to a command that is wrong, or what is not known here.
 */
type RedisErrorMeaning =
	| "full"
	| "demoted"
	| "refused"
	| "forbidden"
	| "unready"
	| "credentials"
	| "cluster"
	| "other";

/** By the word that an error reply begins with. */
const MEANING_OF_CODE: Readonly<Record<string, RedisErrorMeaning>> = {
	OOM: "full",
	READONLY: "demoted",
	/** Snapshots or the append-only file cannot be written. */
	MISCONF: "refused",
	/** `min-replicas-to-write` */
	NOREPLICAS: "refused",
	NOPERM: "forbidden",
	LOADING: "unready",
	/** A script runs for long. */
	BUSY: "unready",
	MASTERDOWN: "unready",
	UNBLOCKED: "unready",
	NOAUTH: "credentials",
	WRONGPASS: "credentials",
	/** Protected mode. */
	DENIED: "credentials",
	CLUSTERDOWN: "cluster",
	MOVED: "cluster",
	ASK: "cluster",
	CROSSSLOT: "cluster",
	TRYAGAIN: "cluster",
};

/** Error replies without a word of their own. */
const MEANING_OF_TEXT: readonly (readonly [RegExp, RedisErrorMeaning])[] = [
	[/^ERR ACL failure in script/, "forbidden"],
	// One that `rename-command` took away, or that a proxy does not know.
	[/^ERR unknown command|^ERR Unknown Redis command/, "forbidden"],
	[/can't run this command or subcommand/, "forbidden"],
	[/^ERR max number of clients reached/, "unready"],
];

/** Null for what is no error reply: the server did not answer. */
export function meaningOf(error: unknown): RedisErrorMeaning | null {
	if (!(error instanceof Error) || error.name !== "ReplyError") return null;
	const { message } = error;
	// Before version 7 the error of a command in a script stands within another.
	const code =
		/^ERR .*?-([A-Z]+) /.exec(message)?.[1] ?? /^([A-Z]+)/.exec(message)?.[1];
	const known = Object.hasOwn(MEANING_OF_CODE, code ?? "")
		? MEANING_OF_CODE[code ?? ""]
		: undefined;
	return (
		known ??
		MEANING_OF_TEXT.find(([pattern]) => pattern.test(message))?.[1] ??
		"other"
	);
}

/** Whether the server answered a call that it refuses: the connection is good, and other calls may succeed. */
export function isRefusal(error: unknown): error is Error {
	const meaning = meaningOf(error);
	return meaning === "full" || meaning === "refused" || meaning === "forbidden";
}
