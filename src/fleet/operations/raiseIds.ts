import { CorkboardError } from "../../errors.ts";
import { MAX_LOCAL } from "../../id/ids.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import { nameOf } from "../map/mapRanges.ts";
import { withHost } from "../map/replicaHosts.ts";
import { grantFaults } from "../preflight/operatorGrants.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { highestIds, readCounters } from "../server/localIds.ts";
import { raiseLocalIds, tryRaising } from "../server/raiseLocalIds.ts";

interface RaiseOptions {
	readonly topology: Topology;
	readonly environment: Environment;
	/** `host:port`; it need not be in the topology yet. */
	readonly host: string;
	/** Null: all that the server has. */
	readonly shards: readonly number[] | null;
	/** How many local ids each table skips. */
	readonly by: number;
	/** Whether nothing is changed. */
	readonly isDryRun: boolean;
}

/** What became, or would become, of the counters of a server. */
export interface RaisedIds {
	/** `host:port` */
	readonly host: string;
	readonly by: number;
	readonly tables: readonly RaisedTable[];
	/** What a dry run found: which tables have to be altered. */
	readonly notes: readonly string[];
}

interface RaisedTable {
	/** `db00000.pins` */
	readonly table: string;
	/** The first local id that is free, before and after. */
	readonly before: number;
	readonly after: number;
}

/**
 * Raises the counters of local ids of a restored server, so that ids which it gave
 * out after the backup are not given out again. Run twice, it raises them twice,
 * which costs nothing but ids. So it is no operation: there is nothing to undo or to
 * resume, and a record would keep the host locked after a kill.
 *
 * Throws BAD_TOPOLOGY if nothing can be raised there, CONFLICT if it takes no
 * writes or its local ids would end, UNAVAILABLE if it does not answer.
 */
export async function raiseIds(options: RaiseOptions): Promise<RaisedIds> {
	const { by, isDryRun } = options;
	await using server = new FleetServer(urlOf(options), options.environment);
	const databases = await databasesOn(server, options.shards);
	const faults = await grantFaults(server, [], databases);
	if (faults.length > 0) {
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	}
	const counters = await readCounters(server, databases);
	const highest = await highestIds(server, [...counters.keys()]);
	// A counter may be below what its table holds.
	const free = [...counters].map(([table, counter]) => {
		const next = counter.next ?? 1n;
		const stored = highest.get(table) ?? 0n;
		return { ...counter, next: stored < next ? next : stored + 1n };
	});
	const tables = free.map(({ schema, table, next }) => ({
		table: `${schema}.${table}`,
		before: Number(next),
		after: Number(next) + by,
	}));
	const full = tables.find(({ after }) => after >= MAX_LOCAL);
	if (full !== undefined) {
		throw new CorkboardError(
			"CONFLICT",
			`The next local id of ${full.table} on ${server.name} is ${full.before}: ${by} more are past the last one, ${MAX_LOCAL}.`,
		);
	}
	const [isFenced] = await server.row(
		"fence",
		"SELECT @@GLOBAL.super_read_only OR @@GLOBAL.read_only",
	);
	if (String(isFenced) !== "0") {
		throw new CorkboardError(
			"CONFLICT",
			`${server.name} takes no writes: read_only is on. Raise the local ids on a primary, before it gets replicas.`,
		);
	}
	const trial = isDryRun
		? await tryRaising(server, databases)
		: { faults: [], notes: [] };
	if (trial.faults.length > 0) {
		throw new CorkboardError("CONFLICT", trial.faults.join("\n"));
	}
	if (!isDryRun) {
		await raiseLocalIds(server, free, by);
		await requireRaised(server, databases, tables);
	}
	return {
		host: server.name,
		by,
		notes: trial.notes,
		tables: tables.toSorted((a, b) => (a.table < b.table ? -1 : 1)),
	};
}

/** With the account and the TLS options of the topology: a restored server has those of the one it replaces. */
function urlOf({ topology, host }: RaiseOptions): string {
	const { shards, lookups, feeds = [] } = topology;
	const urls = [...shards, ...lookups, ...feeds].flatMap(
		({ primary, replica }) =>
			replica === undefined ? [primary] : [primary, replica],
	);
	const servers = urls.filter((url) => parseHostUrl(url)?.scheme === "mysql");
	const [any] = servers;
	if (any === undefined) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			"The topology names no MySQL server.",
		);
	}
	const asked = withHost(any, host);
	const name = nameOf(asked);
	return servers.find((url) => nameOf(url) === name) ?? asked;
}

/** The databases of shards and feeds that a server has, and the one of their outbox. */
async function databasesOn(
	server: FleetServer,
	shards: readonly number[] | null,
): Promise<readonly string[]> {
	const rows = await server.rows(
		"databases",
		`SELECT schema_name FROM information_schema.schemata WHERE schema_name REGEXP '^((db|feed)[0-9]{5}|${HOST_DATABASE})$'`,
	);
	const names = rows.map(([name]) => String(name));
	const all = names.filter((name) => name !== HOST_DATABASE);
	const wanted = shards && new Set(shards);
	const chosen = all.filter(
		(name) => wanted === null || wanted.has(Number(name.slice(-5))),
	);
	const missing = shards?.find(
		(shard) => !chosen.some((name) => Number(name.slice(-5)) === shard),
	);
	if (missing !== undefined || chosen.length === 0) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`${server.name} has no database of ${missing === undefined ? "any shard" : `shard ${missing}`}.`,
		);
	}
	return names.filter(
		(name) => name === HOST_DATABASE || chosen.includes(name),
	);
}

async function requireRaised(
	server: FleetServer,
	databases: readonly string[],
	tables: readonly RaisedTable[],
): Promise<void> {
	const counters = await readCounters(server, databases);
	const behind = tables.find(
		({ table, after }) => Number(counters.get(table)?.next ?? 1n) < after,
	);
	if (behind === undefined) return;
	throw new CorkboardError(
		"UNAVAILABLE",
		`The next local id of ${behind.table} on ${server.name} is still below ${behind.after}.`,
	);
}
