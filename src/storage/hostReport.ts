import { compact } from "../util/compact.ts";

/** A server as it answers now, for an operator. Null: not known, as it did not answer or refused to say. */
export interface HostReport {
	/** `host:port`; the folder of embedded shards. */
	readonly host: string;
	/** `primary` if any range names it so. */
	readonly role: "primary" | "replica";
	/** Shards and mod shards of which it is the primary. */
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
	/** Feed databases of which it is the primary. */
	readonly feeds?: number;
	/** Why it cannot be used; null if it can. */
	readonly error: string | null;
	/** Whether the error is that nothing came in time: it may be down, or too busy, or this process is. */
	readonly isSilent: boolean;
	/** How far its clock is before (negative: behind) that of this process, in milliseconds: between these two. */
	readonly clock: { readonly least: number; readonly most: number } | null;
	/** The time of a round trip. Milliseconds. */
	readonly ms: number | null;
	/** The version of the database server. */
	readonly version: string | null;
	readonly isReadOnly: boolean | null;
	/** Which server the name leads to, as it calls itself: MySQL's `server_uuid`. */
	readonly server: string | null;
	/** How a replica replicates; null for a primary. */
	readonly replication: Replication | null;
	/** The outbox of a primary. */
	readonly outbox: OutboxReport | null;
	/** Tables and columns that its shards lack. */
	readonly missingTables: readonly string[] | null;
	/** Those that the number of its tables asks for. */
	readonly settings: readonly ServerSetting[] | null;
}

export interface ServerSetting {
	readonly name: string;
	/** What its tables need. */
	readonly least: number;
	readonly value: number;
}

export interface Replication {
	readonly isRunning: boolean;
	/** How far it is behind its source; null while that is not known. */
	readonly lagSeconds: number | null;
	/** Why it does not run, in the server's words. */
	readonly error: string | null;
}

export interface OutboxReport {
	/** Entries that wait for delivery, counted up to `OUTBOX_COUNTED`. */
	readonly pending: number;
	/** The age of the oldest entry. */
	readonly oldestSeconds: number;
}

/** Most entries of an outbox that are counted: a backlog may have millions. */
export const OUTBOX_COUNTED = 10_000;

/** Most missing tables that are named; all are counted. */
export const NAMED_TABLES = 20;
export const CREATE_TABLES = "npm run -s corkboard -- init";

/** What keeps hosts from serving reads and writes: a sentence for each. */
export function hostProblems(
	reports: readonly HostReport[],
): readonly string[] {
	return reports.flatMap((report) => {
		const { host, role, error, isSilent, isReadOnly, replication } = report;
		if (error !== null) {
			const named = `${host}${role === "replica" ? ", a replica," : ""}`;
			return [
				isSilent
					? `${named} has not answered in time: it is down, or it, the network or this machine is too busy.`
					: `${named} cannot be used: ${error}`,
			];
		}
		if (role === "primary") {
			return isReadOnly
				? [
						`${host} is the primary of a range, but takes no writes: it is read-only.`,
					]
				: [];
		}
		return replicaProblems(host, isReadOnly, replication);
	});
}

/** A sentence for each host with settings that are too small for its tables: it serves, and opens tables again and again. */
export function settingProblems(
	reports: readonly Pick<HostReport, "host" | "settings">[],
): readonly string[] {
	return reports.flatMap(({ host, settings }) => {
		const small = (settings ?? []).filter(({ least, value }) => value < least);
		return small.length === 0
			? []
			: [
					`${host} is set for fewer tables than it has: ${small.map(({ name, least, value }) => `${name} must be at least ${least}, got ${value}`).join("; ")} (docs/how-to/install.md#settings-of-mysql).`,
				];
	});
}

/** What the shards of these hosts lack: the first tables by name, and how many. */
export function tableProblems(
	reports: readonly HostReport[],
	/** Those of the missing ones that were made once, and what to do about them. */
	lost: {
		readonly tables: readonly string[];
		readonly sentence: string;
	} | null,
): readonly string[] {
	const isLost = new Set(lost?.tables);
	const missing = reports.flatMap(({ missingTables }) =>
		(missingTables ?? []).filter((table) => !isLost.has(table)),
	);
	const unknown = reports.filter(
		({ role, error, missingTables }) =>
			role === "primary" && error === null && missingTables === null,
	);
	return compact([
		...unknown.map(({ host }) => `${host} did not say which tables it has.`),
		lost?.sentence,
		...missing.slice(0, NAMED_TABLES).map((table) => `${table} is missing.`),
		missing.length > 0 &&
			`Tables and columns missing: ${missing.length}. Create them with ${CREATE_TABLES}.`,
	]);
}

/** Behind by more, a replica cannot be promoted without a wait. */
const MAX_LAG_SECONDS = 60;

function replicaProblems(
	host: string,
	isReadOnly: boolean | null,
	replication: Replication | null,
): readonly string[] {
	const problems: string[] = [];
	if (isReadOnly === false) {
		problems.push(
			`${host} is a replica, but takes writes: set super_read_only there.`,
		);
	}
	if (replication === null) return problems;
	const { isRunning, lagSeconds, error } = replication;
	if (!isRunning) {
		problems.push(`${host} does not replicate${error ? `: ${error}` : "."}`);
	} else if (lagSeconds !== null && lagSeconds > MAX_LAG_SECONDS) {
		problems.push(`${host} is ${lagSeconds} s behind its source.`);
	}
	return problems;
}
