/**
 * Works out a fleet from the inputs below, and prints it as the tables of
 * bench/results/capacity.md:
 *
 *     npm run bench -- capacity             prints them
 *     npm run bench -- capacity --write  puts them into the page
 *
 * Change an input, run it, and read what it means. A test holds the page to it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE = join(import.meta.dirname, "results/capacity.md");
const BEGIN = "<!-- tables: npm run bench -- capacity --write -->";
const END = "<!-- end of tables -->";

interface Input {
	readonly value: number;
	readonly unit: string;
	readonly what: string;
	/** `published`, by those who ran such a fleet; `measured`, by npm run bench; `assumed`. */
	readonly source: "published" | "measured" | "assumed";
	readonly note?: string;
}

const INPUTS = {
	// What is stored.
	pins: input(50e9, "", "pins", "published", "Pinterest, 2015"),
	boards: input(1e9, "", "boards", "published", "Pinterest, 2015"),
	users: input(400e6, "", "users", "assumed", "125 pins each"),
	likesPerPin: input(1, "", "likes per pin", "assumed"),
	followsPerUser: input(50, "", "followed users per user", "assumed"),
	pinBytes: input(
		617,
		"B",
		"row of a pin, with its index",
		"measured",
		"bench/results/performance.md",
	),
	smallBytes: input(330, "B", "row of a board or user", "assumed", "estimated"),
	edgeBytes: input(
		75,
		"B",
		"row of an edge, one direction",
		"assumed",
		"estimated",
	),
	listBytes: input(90, "B", "row of a list's count", "assumed", "estimated"),
	shards: input(4_096, "", "shards in use", "published", "of 65,536"),
	replicas: input(1, "", "replicas per primary", "published"),
	// What is asked.
	requests: input(200_000, "/s", "requests at the peak", "assumed"),
	q1: input(0.5, "", "of them like Q1, a pin", "assumed"),
	q2: input(0.25, "", "like Q2, a board", "assumed"),
	q3: input(0.15, "", "like Q3, a profile", "assumed"),
	q4: input(0.1, "", "like Q4, pins of followees", "assumed"),
	writes: input(0.01, "", "writes, of all requests", "assumed", "TAO: 0.002"),
	// What that costs.
	q1Ms: input(
		0.34,
		"ms",
		"CPU of Q1, no in-process cache",
		"measured",
		"bench/results/performance.md",
	),
	q2Ms: input(
		0.96,
		"ms",
		"CPU of Q2, no in-process cache",
		"measured",
		"bench/results/performance.md",
	),
	q3Ms: input(
		2.1,
		"ms",
		"CPU of Q3, no in-process cache",
		"measured",
		"bench/results/performance.md",
	),
	q4Ms: input(
		1.87,
		"ms",
		"CPU of Q4, no in-process cache",
		"measured",
		"bench/results/performance.md",
	),
	writeMs: input(
		1.26,
		"ms",
		"CPU of a write",
		"measured",
		"bench/results/performance.md",
	),
	writeDatabaseMs: input(
		0.98,
		"ms",
		"database CPU of a write",
		"measured",
		"bench/results/performance.md",
	),
	objects: input(
		30,
		"",
		"objects per request, by the mix",
		"assumed",
		"estimated",
	),
	heads: input(18, "", "lists per request, by the mix", "assumed", "estimated"),
	localHits: input(0.5, "", "found in the process", "assumed"),
	sharedHits: input(
		0.964,
		"",
		"of the rest found in shared caches",
		"published",
		"TAO's followers",
	),
	rowMs: input(
		0.02,
		"ms",
		"database CPU of a row or list read in a batch",
		"assumed",
		"estimated",
	),
	objectBytes: input(
		363,
		"B",
		"object in memcached",
		"measured",
		"bench/results/performance.md",
	),
	headBytes: input(
		263,
		"B",
		"head of a list in Redis",
		"measured",
		"bench/results/performance.md",
	),
	hot: input(
		0.02,
		"",
		"of objects and lists are read again and again",
		"assumed",
	),
	// What a machine has.
	cores: input(32, "", "cores per machine", "assumed"),
	busy: input(
		0.5,
		"",
		"of a core in use at the peak",
		"assumed",
		"room for a lost host",
	),
	disk: input(3.8, "TB", "disk per database host", "assumed"),
	full: input(0.6, "", "of a disk in use", "assumed", "room to alter a table"),
	cacheMemory: input(120, "GB", "memory of a memcached host", "assumed"),
	redisMemory: input(100, "GB", "memory of the Redis", "assumed"),
	redisCommands: input(
		1_000_000,
		"/s",
		"keys that one Redis reads in batches",
		"assumed",
	),
	redisDeliveries: input(
		1_000_000,
		"/s",
		"messages that one Redis delivers",
		"assumed",
	),
	poolSize: input(
		20,
		"",
		"connections of a process to a host, at most",
		"measured",
		"docs/how-to/install.md",
	),
	maxConnections: input(
		20_000,
		"",
		"connections that a MySQL host bears",
		"assumed",
	),
} as const satisfies Readonly<Record<string, Input>>;

type Values = Readonly<Record<keyof typeof INPUTS, number>>;

function input(
	value: number,
	unit: string,
	what: string,
	source: Input["source"],
	note?: string,
): Input {
	return { value, unit, what, source, ...(note !== undefined && { note }) };
}

interface Row {
	readonly what: string;
	readonly formula: string;
	readonly value: number;
	readonly unit: string;
}

/** How often a resource that cannot be added to is there. */
interface Limit {
	readonly what: string;
	readonly used: number;
	readonly limit: number;
	readonly remedy: string;
}

function values(): Values {
	return Object.fromEntries(
		Object.entries(INPUTS).map(([name, { value }]) => [name, value]),
	) as Values;
}

function workOut(v: Values): {
	readonly rows: readonly Row[];
	readonly limits: readonly Limit[];
} {
	const TB = 1e12;
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
	const databaseCores =
		(rowsRead * v.rowMs + writes * v.writeDatabaseMs) / coreMs;
	const byCpu = Math.ceil(databaseCores / v.cores);
	const primaries = 2 ** Math.ceil(Math.log2(Math.max(byDisk, byCpu)));
	const objectCache = v.hot * (v.pins + v.boards + v.users) * v.objectBytes;
	const headCache = v.hot * lists * v.headBytes;
	const memcacheds = Math.ceil(objectCache / (v.cacheMemory * 1e9));
	const rows: Row[] = [
		{
			what: "edges, both directions",
			formula: "pins × (2 + 2 × likes) + boards + 2 × users × follows",
			value: edges / 1e9,
			unit: "billion",
		},
		{
			what: "lists with a count",
			formula: "pins + boards + 4 × users",
			value: lists / 1e9,
			unit: "billion",
		},
		{
			what: "data",
			formula: "rows × bytes per row",
			value: bytes / TB,
			unit: "TB",
		},
		{
			what: "primaries, by disk",
			formula: "data ÷ (disk × share in use)",
			value: byDisk,
			unit: "",
		},
		{
			what: "rows read from MySQL",
			formula:
				"reads × (objects + lists) × (1 − in process) × (1 − in shared caches)",
			value: rowsRead,
			unit: "/s",
		},
		{
			what: "primaries, by CPU",
			formula: "(rows × CPU + writes × CPU) ÷ (cores × share in use)",
			value: byCpu,
			unit: "",
		},
		{
			what: "**primaries**",
			formula: "the larger, to a power of two",
			value: primaries,
			unit: "",
		},
		{
			what: "MySQL hosts",
			formula: "primaries × (1 + replicas)",
			value: primaries * (1 + v.replicas),
			unit: "",
		},
		{
			what: "shards per primary",
			formula: "shards ÷ primaries",
			value: v.shards / primaries,
			unit: "",
		},
		{
			what: "pins per shard",
			formula: "pins ÷ shards",
			value: v.pins / v.shards / 1e6,
			unit: "million",
		},
		{
			what: "data per shard",
			formula: "data ÷ shards",
			value: bytes / v.shards / 1e9,
			unit: "GB",
		},
		{
			what: "CPU of an average read",
			formula: "Σ share × CPU",
			value: readMs,
			unit: "ms",
		},
		{
			what: "**API processes**",
			formula: "(reads × CPU + writes × CPU) ÷ share of a core",
			value: processes,
			unit: "",
		},
		{
			what: "API machines",
			formula: "processes ÷ cores",
			value: Math.ceil(processes / v.cores),
			unit: "",
		},
		{
			what: "objects worth caching",
			formula: "hot × objects × bytes",
			value: objectCache / TB,
			unit: "TB",
		},
		{
			what: "**memcached hosts**",
			formula: "objects ÷ memory",
			value: memcacheds,
			unit: "",
		},
		{
			what: "heads worth caching",
			formula: "hot × lists × bytes",
			value: headCache / TB,
			unit: "TB",
		},
		{
			what: "keys asked of shared caches",
			formula: "reads × (objects + lists) × (1 − in process)",
			value: keys / 1e6,
			unit: "million/s",
		},
	];
	const headReads = reads * v.heads * (1 - v.localHits);
	const limits: Limit[] = [
		{
			what: "connections to a MySQL host",
			used: processes * v.poolSize,
			limit: v.maxConnections,
			remedy:
				"a smaller pool, or fewer and larger processes: 20 for each of them is far more than their share of the statements needs",
		},
		{
			what: "memory of the one Redis",
			used: headCache,
			limit: v.redisMemory * 1e9,
			remedy:
				"several Redis servers, heads spread over them by key as objects are over memcached hosts; until then it evicts, and the heads that it lacks come from MySQL",
		},
		{
			what: "keys read from the one Redis",
			used: headReads,
			limit: v.redisCommands,
			remedy: "as above",
		},
		{
			what: "invalidations delivered by the one Redis",
			used: writes * processes,
			limit: v.redisDeliveries,
			remedy: "a channel per range of shards, or a tree of Redis servers",
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
	return { rows, limits };
}

/** The tables, as bench/results/capacity.md has them. */
export function capacityTables(): string {
	const { rows, limits } = workOut(values());
	const headroom = ({ used, limit }: Limit) => limit / used;
	return [
		"### Inputs",
		"",
		"| input | value | source |",
		"|---|---:|---|",
		...Object.values(INPUTS).map(
			({ what, value, unit, source, note }: Input) =>
				`| ${what} | ${spelled(value)}${unit === "" ? "" : ` ${unit}`} | ${source}${note === undefined ? "" : `: ${note}`} |`,
		),
		"",
		"### The fleet",
		"",
		"| | formula | |",
		"|---|---|---:|",
		...rows.map(
			({ what, formula, value, unit }) =>
				`| ${what} | ${formula} | ${spelled(value)}${unit === "" ? "" : ` ${unit}`} |`,
		),
		"",
		"### What breaks first",
		"",
		"| resource | needed | there is | times | what then |",
		"|---|---:|---:|---:|---|",
		...limits
			.toSorted((a, b) => headroom(a) - headroom(b))
			.map(
				(row) =>
					`| ${row.what} | ${spelled(row.used)} | ${spelled(row.limit)} | ${spelled(headroom(row))} | ${row.remedy} |`,
			),
	].join("\n");
}

/** The page, with the tables as they are now. */
export function pageWithTables(page: string): string {
	const from = page.indexOf(BEGIN);
	const to = page.indexOf(END);
	if (from < 0 || to < from)
		throw new Error(`${PAGE} has no place for tables.`);
	return `${page.slice(0, from + BEGIN.length)}\n\n${capacityTables()}\n\n${page.slice(to)}`;
}

function spelled(value: number): string {
	if (value >= 1e15) return `${digits(value / 1e15)} × 10¹⁵`;
	if (value >= 1e12) return `${digits(value / 1e12)} × 10¹²`;
	if (value >= 1e9) return `${digits(value / 1e9)} billion`;
	if (value >= 1e6) return `${digits(value / 1e6)} million`;
	return digits(value);
}

/** Three digits that count. */
function digits(value: number): string {
	if (value >= 1_000) {
		const rounded = Number(value.toPrecision(3));
		return (value < 100_000 ? Math.round(value) : rounded).toLocaleString(
			"en-US",
		);
	}
	return String(Number(value.toPrecision(3)));
}

export async function run(args: readonly string[]): Promise<number> {
	if (args.includes("--write")) {
		writeFileSync(PAGE, pageWithTables(readFileSync(PAGE, "utf8")));
	} else {
		console.log(capacityTables());
	}
	return 0;
}
