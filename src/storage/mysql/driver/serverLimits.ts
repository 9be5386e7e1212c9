import { type Deadline, deadlineIn } from "../../../util/deadline.ts";
import { TABLE_CACHE_LEVELS, type TableCacheLevel } from "../../diagnostics.ts";
import type { ServerSetting } from "../../hostReport.ts";
import type { Host } from "./host.ts";

/** Tables that a server has of its own, and some to spare. */
const OTHER_TABLES = 400;
/** A statement of ours has about 1 MB, a stored row up to 16 MB. */
const PACKET_BYTES = 16 * 1_024 ** 2;

/**
 * What a server must have so that so many tables stay open: one that is not in a
 * table cache takes 0.2 ms to open. Each instance of the cache serves a part of the
 * connections, so each needs all tables. At its start a server lowers
 * `table_open_cache` to what `open_files_limit` allows.
 */
export function leastSettings(
	tables: number,
	{ instances, connections }: Record<"instances" | "connections", number>,
): Readonly<Record<string, number>> {
	const openTables = tables * instances;
	return {
		table_open_cache: openTables,
		table_definition_cache: tables + OTHER_TABLES,
		innodb_open_files: tables + OTHER_TABLES,
		open_files_limit: 2 * openTables + connections + 10,
		max_allowed_packet: PACKET_BYTES,
	};
}

/** The settings that its tables need, as a server has them. */
export async function readSettings(
	host: Host,
	tables: number,
	deadline: Deadline,
): Promise<readonly ServerSetting[]> {
	const rows = await host.rows(
		{
			name: "settings",
			text: `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('table_open_cache_instances', 'max_connections', '${Object.keys(leastSettings(0, { instances: 0, connections: 0 })).join("', '")}')`,
			values: [],
		},
		{ shard: 0, deadline, isPatient: true },
	);
	const values = new Map(
		rows.map(([name, value]) => [String(name), Number(value)]),
	);
	const instances = values.get("table_open_cache_instances") ?? 1;
	const connections = values.get("max_connections") ?? 0;
	const least = leastSettings(tables, { instances, connections });
	return Object.entries(least).flatMap(([name, needed]) => {
		const value = values.get(name);
		return value === undefined ? [] : [{ name, least: needed, value }];
	});
}

/** Those who ask sooner get the same answer. Milliseconds. */
const FRESH_MS = 60_000;
const ANSWER_MS = 1_000;

/** Says how often hosts closed a table because their cache was full, until disposed. */
export function reportTableCaches(hosts: readonly Host[]): Disposable {
	let askedAt = Number.NEGATIVE_INFINITY;
	let levels: Promise<readonly TableCacheLevel[]> = Promise.resolve([]);
	return TABLE_CACHE_LEVELS.add(() => {
		const now = performance.now();
		if (now - askedAt >= FRESH_MS) {
			askedAt = now;
			levels = Promise.all(
				hosts.map((host) => readOverflows(host).catch(() => [])),
			).then((all) => all.flat());
		}
		return levels;
	});
}

async function readOverflows(host: Host): Promise<readonly TableCacheLevel[]> {
	const [[, value] = []] = await host.rows(
		{
			name: "table cache",
			text: "SHOW GLOBAL STATUS LIKE 'Table_open_cache_overflows'",
			values: [],
		},
		{ shard: 0, deadline: deadlineIn(ANSWER_MS) },
	);
	return value === undefined
		? []
		: [{ host: host.name, overflows: Number(value) }];
}
