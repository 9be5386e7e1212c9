/** What a fleet is worked out from: change one, and run `npm run bench -- capacity`. */
export interface Input {
	readonly value: number;
	readonly unit: string;
	readonly what: string;
	/** `published`, by those who ran such a fleet; `measured`, by npm run bench; `assumed`. */
	readonly source: "published" | "measured" | "assumed";
	readonly note?: string;
}

const AT_LOAD_10 = "a move, at a load average of 10";
const AT_LOAD_25 = "a move, at a load average of 25";

export const INPUTS = {
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
	publications: input(
		1.5,
		"",
		"publications of a write",
		"assumed",
		"half of the writes deliver an edge to another shard",
	),
	checks: input(
		8,
		"/s",
		"commands with which a process checks each channel's Redis",
		"assumed",
		"its number and a PING, four times each",
	),
	idleMs: input(
		1.2,
		"ms",
		"database CPU per second and host of a process that stands idle",
		"measured",
		"npm run bench -- seed, with a quarter of what MySQL takes by itself",
	),
	tables: input(37, "", "tables per shard", "measured", "init"),
	openTableKb: input(14, "KB", "memory of an open table", "measured"),
	instances: input(
		4,
		"",
		"instances of the table cache, each with all tables",
		"assumed",
		"docs/how-to/install.md",
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
		0.06,
		"ms",
		"database CPU of a row or list read in a batch",
		"assumed",
		"nearly each is on a shard of its own, and so a part of its statement",
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
	// What a move of shards does, on two cores at two loads of the machine.
	copied: input(146_000, "/s", "rows copied", "measured", AT_LOAD_10),
	copiedBusy: input(30_900, "/s", "rows copied", "measured", AT_LOAD_25),
	compared: input(257_000, "/s", "rows compared", "measured", AT_LOAD_10),
	comparedBusy: input(165_000, "/s", "rows compared", "measured", AT_LOAD_25),
	streamed: input(3_900, "/s", "transactions followed", "measured", AT_LOAD_10),
	streamedBusy: input(
		1_990,
		"/s",
		"transactions followed",
		"measured",
		AT_LOAD_25,
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
	redisServers: input(6, "", "Redis servers", "assumed"),
	redisMemory: input(100, "GB", "memory of a Redis", "assumed"),
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
	openTables: input(
		524_288,
		"",
		"tables that a MySQL host keeps open, at most",
		"published",
		"MySQL's largest table_open_cache",
	),
	poolSize: input(
		23,
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

export type Values = Readonly<Record<keyof typeof INPUTS, number>>;

function input(
	value: number,
	unit: string,
	what: string,
	source: Input["source"],
	note?: string,
): Input {
	return { value, unit, what, source, ...(note !== undefined && { note }) };
}

export function values(): Values {
	return Object.fromEntries(
		Object.entries(INPUTS).map(([name, { value }]) => [name, value]),
	) as Values;
}
