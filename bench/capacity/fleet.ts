import type { Values } from "./inputs.ts";

export interface Row {
	readonly what: string;
	readonly formula: string;
	readonly value: number;
	readonly unit: string;
}

/** A row about a move, at a load average of 10 and of 25. */
export interface MoveRow extends Omit<Row, "value"> {
	readonly values: readonly [number, number];
}

/** How often a resource that cannot be added to is there. */
export interface Limit {
	readonly what: string;
	readonly used: number;
	readonly limit: number;
	readonly remedy: string;
}

/** What a fleet has, and is asked. */
interface Fleet {
	readonly edges: number;
	readonly lists: number;
	readonly bytes: number;
	readonly byDisk: number;
	readonly writes: number;
	readonly readMs: number;
	readonly processes: number;
	readonly keys: number;
	readonly headReads: number;
	readonly rowsRead: number;
	readonly byCpu: number;
	readonly primaries: number;
	readonly objectCache: number;
	readonly headCache: number;
	/** The tables of a primary. */
	readonly tables: number;
}

const TB = 1e12;

export function workOut(v: Values): Fleet {
	const edges =
		v.pins * (2 + 2 * v.likesPerPin) +
		v.boards +
		2 * v.users * v.followsPerUser;
	const lists = v.pins + v.boards + 4 * v.users;
	const bytes =
		v.pins * v.pinBytes +
		(v.boards + v.users) * v.smallBytes +
		edges * v.edgeBytes +
		lists * v.listBytes;
	const byDisk = Math.ceil(bytes / (v.disk * TB * v.full));
	const reads = v.requests * (1 - v.writes);
	const writes = v.requests * v.writes;
	const readMs = v.q1 * v.q1Ms + v.q2 * v.q2Ms + v.q3 * v.q3Ms + v.q4 * v.q4Ms;
	const coreMs = 1_000 * v.busy;
	const processes = Math.ceil((reads * readMs + writes * v.writeMs) / coreMs);
	const keys = reads * (v.objects + v.heads) * (1 - v.localHits);
	const rowsRead = keys * (1 - v.sharedHits);
	const loadMs = rowsRead * v.rowMs + writes * v.writeDatabaseMs;
	// Each process asks each host, however little the host has to do.
	const hostMs = v.cores * coreMs - processes * v.idleMs;
	const byCpu = Math.ceil(loadMs / hostMs);
	const primaries = 2 ** Math.ceil(Math.log2(Math.max(byDisk, byCpu)));
	return {
		edges,
		lists,
		bytes,
		byDisk,
		writes,
		readMs,
		processes,
		keys,
		headReads: reads * v.heads * (1 - v.localHits),
		rowsRead,
		byCpu,
		primaries,
		objectCache: v.hot * (v.pins + v.boards + v.users) * v.objectBytes,
		headCache: v.hot * lists * v.headBytes,
		tables: (v.shards / primaries) * v.tables,
	};
}

function row(what: string, formula: string, value: number, unit = ""): Row {
	return { what, formula, value, unit };
}

export function rowsOf(v: Values, fleet: Fleet): readonly Row[] {
	const { primaries, processes, bytes, tables } = fleet;
	return [
		row(
			"edges, both directions",
			"pins × (2 + 2 × likes) + boards + 2 × users × follows",
			fleet.edges / 1e9,
			"billion",
		),
		row(
			"lists with a count",
			"pins + boards + 4 × users",
			fleet.lists / 1e9,
			"billion",
		),
		row("data", "rows × bytes per row", bytes / TB, "TB"),
		row("primaries, by disk", "data ÷ (disk × share in use)", fleet.byDisk),
		row(
			"rows read from MySQL",
			"reads × (objects + lists) × (1 − in process) × (1 − in shared caches)",
			fleet.rowsRead,
			"/s",
		),
		row(
			"primaries, by CPU",
			"(rows × CPU + writes × CPU) ÷ (cores × share in use − idle processes × CPU)",
			fleet.byCpu,
		),
		row("**primaries**", "the larger, to a power of two", primaries),
		row(
			"MySQL hosts",
			"primaries × (1 + replicas)",
			primaries * (1 + v.replicas),
		),
		row("shards per primary", "shards ÷ primaries", v.shards / primaries),
		row(
			"CPU of a host for processes that stand idle",
			"processes × CPU",
			(processes * v.idleMs) / 1_000,
			"of a core",
		),
		row(
			"memory of open tables, per host",
			"shards × tables × instances × bytes",
			(tables * v.instances * v.openTableKb) / 1e6,
			"GB",
		),
		row("pins per shard", "pins ÷ shards", v.pins / v.shards / 1e6, "million"),
		row("data per shard", "data ÷ shards", bytes / v.shards / 1e9, "GB"),
		row("CPU of an average read", "Σ share × CPU", fleet.readMs, "ms"),
		row(
			"**API processes**",
			"(reads × CPU + writes × CPU) ÷ share of a core",
			processes,
		),
		row("API machines", "processes ÷ cores", Math.ceil(processes / v.cores)),
		row(
			"objects worth caching",
			"hot × objects × bytes",
			fleet.objectCache / TB,
			"TB",
		),
		row(
			"**memcached hosts**",
			"objects ÷ memory",
			Math.ceil(fleet.objectCache / (v.cacheMemory * 1e9)),
		),
		row(
			"heads worth caching",
			"hot × lists × bytes",
			fleet.headCache / TB,
			"TB",
		),
		row(
			"keys asked of shared caches",
			"reads × (objects + lists) × (1 − in process)",
			fleet.keys / 1e6,
			"million/s",
		),
	];
}

/** How long half of a full host takes to move, at both measured loads. */
export function movesOf(v: Values, fleet: Fleet): readonly MoveRow[] {
	const rows = v.pins + v.boards + v.users + fleet.edges + fleet.lists;
	const rowBytes = fleet.bytes / rows;
	const half = (v.disk * TB * v.full) / 2;
	const moved = half / rowBytes;
	const hours = (rate: number) => moved / rate / 3_600;
	const writes = fleet.writes / fleet.primaries;
	const both = (
		what: string,
		formula: string,
		values: readonly [number, number],
		unit = "",
	): MoveRow => ({ what, formula, values, unit });
	const same = (value: number) => [value, value] as const;
	const copy = [hours(v.copied), hours(v.copiedBusy)] as const;
	const compare = [hours(v.compared), hours(v.comparedBusy)] as const;
	const follow = [v.streamed, v.streamedBusy] as const;
	return [
		both(
			"bytes per row",
			"data ÷ (pins + boards + users + edges + lists)",
			same(rowBytes),
			"B",
		),
		both("data moved", "disk × share in use ÷ 2", same(half / TB), "TB"),
		both("rows moved", "data ÷ bytes per row", same(moved / 1e9), "billion"),
		both("copying", "rows ÷ rows copied", copy, "h"),
		both("comparing", "rows ÷ rows compared", compare, "h"),
		both(
			"**both**",
			"the sum",
			[copy[0] + compare[0], copy[1] + compare[1]],
			"h",
		),
		both(
			"writes that the stream follows",
			"transactions followed ÷ (writes ÷ primaries)",
			[follow[0] / writes, follow[1] / writes],
			"times as many as a primary has",
		),
	];
}

export function limitsOf(v: Values, fleet: Fleet): readonly Limit[] {
	const { processes, primaries, bytes, headCache } = fleet;
	const each = processes / v.redisServers;
	return [
		{
			what: "connections to a MySQL host",
			used: processes * v.poolSize,
			limit: v.maxConnections,
			remedy:
				"a smaller pool, or fewer and larger processes: a pool is far more than a process's share of the statements needs",
		},
		{
			what: "memory of a Redis",
			used: headCache / v.redisServers,
			limit: v.redisMemory * 1e9,
			remedy:
				"more Redis servers; until then it evicts, and the heads that it lacks come from MySQL",
		},
		{
			what: "keys read from a Redis, and checks",
			used: fleet.headReads / v.redisServers + processes * v.checks,
			limit: v.redisCommands,
			remedy: "as above",
		},
		{
			what: "invalidations delivered by a Redis",
			used: fleet.writes * v.publications * each,
			limit: v.redisDeliveries,
			remedy: "as above: each has the channels of some shards",
		},
		{
			what: "open tables of a MySQL host",
			used: fleet.tables * v.instances,
			limit: v.openTables,
			remedy: "fewer instances of its table cache, or more hosts",
		},
		{
			what: "disk of a primary",
			used: bytes / primaries,
			limit: v.disk * TB,
			remedy: "half of the shards of each host move to a new one",
		},
		{
			what: "hosts that shards can be spread over",
			used: primaries,
			limit: v.shards,
			remedy: "more ranges of shards are opened, for new objects",
		},
		{
			what: "shards that an id can name",
			used: v.shards,
			limit: 65_536,
			remedy: "nothing: it is the size of the id",
		},
		{
			what: "pins that a shard can number",
			used: v.pins / v.shards,
			limit: 2 ** 36,
			remedy: "nothing: it is the size of the id",
		},
	];
}
