import { setTimeout as sleep } from "node:timers/promises";
import { shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import {
	type DatabaseKind,
	databaseName,
	OUR_DATABASES,
	rangesByKind,
} from "../map/databases.ts";
import { nameOf } from "../map/mapRanges.ts";
import { FleetServer } from "../server/fleetServer.ts";
import {
	add,
	type FleetLoad,
	type Load,
	type LoadedHost,
	type LoadedRange,
	NO_LOAD,
} from "./load.ts";

/** Loads of databases by name, on one primary. */
interface Measured {
	readonly loads: ReadonlyMap<string, Load>;
	/** Whether the server counts writes by table. */
	readonly countsWrites: boolean;
}

export interface MeasuredFleet {
	readonly fleet: FleetLoad;
	/** Primaries that do not count writes, so that only their sizes are known. */
	readonly silent: readonly string[];
	/** Queue shards by primary. */
	readonly queues: ReadonlyMap<string, readonly number[]>;
}

/**
 * Measures what each shard takes of its primary: bytes of tables with their
 * indexes, as the server estimates them, and rows written in `ms`. Changes nothing.
 * Throws UNAVAILABLE if a primary does not answer.
 */
export async function measureLoad(
	topology: Topology,
	environment: Environment,
	ms: number,
): Promise<MeasuredFleet> {
	const byKind = rangesByKind(topology);
	const ranges = Object.entries(byKind).flatMap(([kind, some]) =>
		some.map((range) => ({ kind: kind as DatabaseKind, range })),
	);
	const urls = new Map(
		ranges.map(({ range: { primary } }) => [nameOf(primary), primary]),
	);
	const measured = new Map(
		await Promise.all(
			[...urls].map(async ([host, url]): Promise<[string, Measured]> => {
				await using server = new FleetServer(url, environment);
				return [host, await measureHost(server, ms)];
			}),
		),
	);
	const loadOf = (host: string, kind: DatabaseKind, number: number) =>
		measured.get(host)?.loads.get(databaseName(kind, number)) ?? NO_LOAD;
	const hosts = new Map<string, LoadedHost>();
	const loaded: LoadedRange[] = [];
	const queues = new Map<string, number[]>();
	for (const { kind, range } of ranges) {
		const host = nameOf(range.primary);
		const numbers = shardsOf([range]);
		const loads = numbers.map((number) => loadOf(host, kind, number));
		const { hasReplica = true, fixed = NO_LOAD } = hosts.get(host) ?? {};
		hosts.set(host, {
			hasReplica: hasReplica && keepsPair(kind, range),
			fixed: kind === "queue" ? loads.reduce(add, fixed) : fixed,
		});
		if (kind === "queue") {
			queues.set(host, [...(queues.get(host) ?? []), ...numbers]);
		} else loaded.push({ kind, host, first: range.range[0], loads });
	}
	return {
		fleet: { hosts, ranges: loaded },
		silent: [...measured].flatMap(([host, { countsWrites }]) =>
			countsWrites ? [] : [host],
		),
		queues,
	};
}

/** Pools need no replica (docs/how-to/shard-map.md). */
function keepsPair(kind: DatabaseKind, { replica }: HostRange): boolean {
	return replica !== undefined || kind === "pool";
}

async function measureHost(server: FleetServer, ms: number): Promise<Measured> {
	const first = await writesOf(server);
	const began = performance.now();
	const sizes = await server.freshRows(
		"sizes",
		`SELECT table_schema, SUM(data_length + index_length)
			FROM information_schema.tables WHERE table_schema REGEXP ?
			GROUP BY table_schema`,
		[OUR_DATABASES],
	);
	await sleep(Math.max(0, ms - (performance.now() - began)));
	const last = await writesOf(server);
	const seconds = (performance.now() - began) / 1_000;
	return {
		loads: new Map(
			sizes.map(([name, bytes]): [string, Load] => {
				const database = String(name);
				const rows = (last?.get(database) ?? 0) - (first?.get(database) ?? 0);
				return [
					database,
					// A server that was restarted between counts from 0.
					{ bytes: Number(bytes ?? 0), writes: Math.max(0, rows) / seconds },
				];
			}),
		),
		countsWrites: first !== null && last !== null,
	};
}

/** Rows that were written since the server started, by database; null if it does not count them. */
async function writesOf(
	server: FleetServer,
): Promise<ReadonlyMap<string, number> | null> {
	const [isOn] = await server.row(
		"whether writes are counted",
		`SELECT @@performance_schema AND EXISTS (
			SELECT 1 FROM performance_schema.setup_instruments
				WHERE name = 'wait/io/table/sql/handler' AND enabled = 'YES')`,
	);
	if (String(isOn) !== "1") return null;
	const rows = await server.rows(
		"writes",
		`SELECT object_schema, SUM(count_insert + count_update + count_delete)
			FROM performance_schema.table_io_waits_summary_by_table
			WHERE object_schema REGEXP ? GROUP BY object_schema`,
		[OUR_DATABASES],
	);
	return new Map(rows.map(([name, count]) => [String(name), Number(count)]));
}
