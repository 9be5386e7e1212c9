import { CorkboardError } from "../errors.ts";
import { MAX_SHARD } from "../id/ids.ts";
import { cacheFaults } from "./caches.ts";
import { HOST_URL_FORMS, hostOptionFault, parseHostUrl } from "./hostUrl.ts";
import { shardsOf } from "./ranges.ts";
import type {
	FeedRange,
	FleetCaches,
	HostRange,
	QueueRange,
	ShardRange,
	Topology,
} from "./types.ts";

/**
 * Plain data as a topology: frozen, its ranges lowest first. Throws
 * BAD_TOPOLOGY with every problem, each as `path: sentence`.
 */
export function checkTopology(value: unknown): Topology {
	const problems: string[] = [];
	const members = readObject(
		value,
		"topology",
		"a topology",
		TOPOLOGY,
		problems,
	);
	if (members === null) throw badTopology(problems);
	const read = <Range extends HostRange>(list: List, rules: Rules) =>
		readRanges<Range>(members[list], list, rules, problems);
	const readOptional = <Range extends HostRange>(list: List, rules: Rules) =>
		members[list] === undefined ? null : read<Range>(list, rules);
	const shards = read<ShardRange>("shards", SHARD);
	const lookups = read("lookups", HOST);
	const queues = readOptional<QueueRange>("queues", QUEUE);
	const feeds = readOptional<FeedRange>("feeds", FEED);
	const pools = readOptional("pools", HOST);
	// Ranges that are valid in themselves are checked against each other even
	// if something else is wrong, to report all problems at once.
	problems.push(
		...[shards, lookups, queues, feeds].flatMap((ranges) => overlaps(ranges)),
		...strayFeeds(shards, feeds),
		...(lookups.isWhole ? gaps("lookups", lookups.placed) : []),
		...overlaps(pools),
		...(pools?.isWhole ? poolFaults(pools.placed, queues !== null) : []),
		...mixed(members),
	);
	const given = members.shards;
	if (Array.isArray(given) && given.every((each) => isClosed(each))) {
		problems.push("shards: expected an open range but got: none");
	}
	if (problems.length > 0) throw badTopology(problems);
	return Object.freeze({
		// The rules hold it to a number.
		version: members.version as number,
		shards: rangesOf(shards),
		lookups: rangesOf(lookups),
		...(queues && { queues: rangesOf(queues) }),
		...(feeds && { feeds: rangesOf(feeds) }),
		...(pools && { pools: rangesOf(pools) }),
		...(members.caches !== undefined && {
			caches: members.caches as FleetCaches,
		}),
	});
}

export function badTopology(problems: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_TOPOLOGY", problems.join("\n"));
}

/** What is wrong with a member, each as `path: sentence`. */
type Faults = (value: unknown, path: string) => readonly string[];

interface Rule {
	readonly isOptional: boolean;
	readonly faults: Faults;
}

/** By name, in the order in which a range is stored. */
type Rules = Readonly<Record<string, Rule>>;

const LISTS = ["shards", "lookups", "queues", "feeds", "pools"] as const;
type List = (typeof LISTS)[number];

const required = (faults: Faults): Rule => ({ isOptional: false, faults });
const optional = (faults: Faults): Rule => ({ isOptional: true, faults });

/** A value for which `holds` is true. */
function expecting(
	expected: string,
	holds: (value: unknown) => boolean,
): Faults {
	return (value, path) =>
		holds(value) ? [] : [unexpected(path, expected, value)];
}

const isInteger = (value: unknown, least: number, most?: number) =>
	isNumber(value, least, most) && Number.isSafeInteger(value);
const isNumber = (value: unknown, least: number, most = Number.MAX_VALUE) =>
	typeof value === "number" && value >= least && value <= most;

const BOOLEAN = expecting(
	"true or false",
	(value) => typeof value === "boolean",
);
const GENERATION = optional(
	expecting("an integer from 0", (value) => isInteger(value, 0)),
);
const HOST: Rules = {
	range: required(rangeFaults),
	primary: required(urlFaults),
	replica: optional(urlFaults),
};
const SHARD: Rules = {
	...HOST,
	open: required(BOOLEAN),
	weight: optional(
		expecting(
			"a number above 0, at most 1000",
			(value) => value !== 0 && isNumber(value, 0, 1_000),
		),
	),
	generation: GENERATION,
};
const QUEUE: Rules = { ...HOST, drain: optional(BOOLEAN) };
const FEED: Rules = { ...HOST, generation: GENERATION };
const TOPOLOGY: Rules = {
	version: required(
		expecting("a positive integer", (value) => isInteger(value, 1)),
	),
	// Read range by range.
	...Object.fromEntries(LISTS.map((list) => [list, optional(() => [])])),
	caches: optional(cacheFaults),
};

type Members = Readonly<Record<string, unknown>>;

/** Null if it is no object. */
function readObject(
	value: unknown,
	path: string,
	what: string,
	rules: Rules,
	problems: string[],
): Members | null {
	if (!isObject(value)) {
		problems.push(unexpected(path, what, value));
		return null;
	}
	const names = Object.keys(rules);
	const prefix = rules === TOPOLOGY ? "" : `${path}.`;
	for (const key of Object.keys(value)) {
		if (names.includes(key)) continue;
		problems.push(
			`${path}: expected only ${names.join(", ")} but got: ${JSON.stringify(key)}`,
		);
	}
	for (const [name, { isOptional, faults }] of Object.entries(rules)) {
		if (isOptional && value[name] === undefined) continue;
		problems.push(...faults(value[name], `${prefix}${name}`));
	}
	return value;
}

/** A range that is valid in itself, and its path in the file. */
interface Placed<Range> {
	readonly range: Range;
	readonly path: string;
	readonly first: number;
	readonly last: number;
}

interface Ranges<Range> {
	/** Lowest first. */
	readonly placed: readonly Placed<Range>[];
	/** Whether it is a list, and each of its ranges is valid in itself. */
	readonly isWhole: boolean;
}

function readRanges<Range extends HostRange>(
	value: unknown,
	list: string,
	rules: Rules,
	problems: string[],
): Ranges<Range> {
	if (!Array.isArray(value)) {
		problems.push(unexpected(list, "a list of ranges", value));
		return { placed: [], isWhole: false };
	}
	const placed = value.flatMap((each, index) => {
		const at = `${list}[${index}]`;
		const members = readObject(
			each,
			at,
			"a range and its hosts",
			rules,
			problems,
		);
		const path = `${at}.range`;
		if (members === null || rangeFaults(members.range, path).length > 0) {
			return [];
		}
		// As the rules say, and if they do not hold the range is not used.
		const range = frozen(members, rules) as Range;
		const [first, last] = range.range;
		return [{ range, path, first, last }];
	});
	return {
		placed: placed.toSorted((a, b) => a.first - b.first),
		isWhole: placed.length === value.length,
	};
}

/** A copy of the members that the rules name. */
function frozen(members: Members, rules: Rules): object {
	return Object.freeze(
		Object.fromEntries(
			Object.keys(rules).flatMap((name) => {
				const value = members[name];
				if (value === undefined) return [];
				return [
					[name, Array.isArray(value) ? Object.freeze([...value]) : value],
				];
			}),
		),
	);
}

function rangesOf<Range>({ placed }: Ranges<Range>): readonly Range[] {
	return Object.freeze(placed.map(({ range }) => range));
}

function rangeFaults(value: unknown, path: string): readonly string[] {
	if (!Array.isArray(value) || value.length !== 2) {
		return [unexpected(path, "[first, last]", value)];
	}
	const faults = value.flatMap((shard, index) =>
		isInteger(shard, 0, MAX_SHARD)
			? []
			: [
					unexpected(
						`${path}[${index}]`,
						`a shard from 0 to ${MAX_SHARD}`,
						shard,
					),
				],
	);
	return faults.length > 0 || value[0] <= value[1]
		? faults
		: [unexpected(path, "a first shard that is not after the last", value)];
}

function urlFaults(value: unknown, path: string): readonly string[] {
	if (typeof value !== "string") return [unexpected(path, "a URL", value)];
	if (parseHostUrl(value) !== null) return [];
	// The rest of a URL may be a password.
	const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? "no scheme";
	const fault = hostOptionFault(value);
	const got = fault === null ? scheme : `${scheme} ${fault}`;
	return [`${path}: expected ${HOST_URL_FORMS} but got: ${got}`];
}

function unexpected(path: string, expected: string, got: unknown): string {
	return `${path}: expected ${expected} but got: ${describe(got)}`;
}

/** Lists and objects are not printed: somewhere in them is a URL. */
function describe(input: unknown): string {
	if (input === undefined) return "nothing";
	if (input === null || typeof input !== "object") return JSON.stringify(input);
	if (!Array.isArray(input)) return "an object";
	return input.length <= 4 && input.every((each) => typeof each === "number")
		? JSON.stringify(input)
		: "a list";
}

function isObject(value: unknown): value is Members {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isClosed(range: unknown): boolean {
	return isObject(range) && range.open === false;
}

function overlaps(ranges: Ranges<HostRange> | null): readonly string[] {
	const faults: string[] = [];
	let widest: Placed<HostRange> | undefined;
	for (const range of ranges?.placed ?? []) {
		if (widest !== undefined && range.first <= widest.last) {
			faults.push(
				`${range.path}: expected no overlap but got: ${range.first} to ${Math.min(range.last, widest.last)}, which ${widest.path} has too`,
			);
		}
		if (widest === undefined || range.last > widest.last) widest = range;
	}
	return faults;
}

/** One process speaks to one kind of storage: what is on the other would be out of its reach. */
function mixed(members: Members): readonly string[] {
	const schemes = new Map<string, string>();
	for (const list of LISTS) {
		const ranges = members[list];
		for (const [index, range] of Array.isArray(ranges)
			? ranges.entries()
			: []) {
			for (const role of ["primary", "replica"]) {
				const url = isObject(range) ? range[role] : null;
				const parsed = typeof url === "string" ? parseHostUrl(url) : null;
				if (parsed !== null && !schemes.has(parsed.scheme)) {
					schemes.set(parsed.scheme, `${list}[${index}].${role}`);
				}
			}
		}
	}
	const [first, second] = schemes;
	return first === undefined || second === undefined
		? []
		: [
				`${second[1]}: expected ${first[0]}:, as ${first[1]}, because all hosts of a topology are of one kind, but got: ${second[0]}:`,
			];
}

/** Every lookup has its mod shard, and every user a pool shard, so their ranges leave nothing out. */
function gaps(
	list: string,
	ranges: readonly Placed<HostRange>[],
): readonly string[] {
	if (ranges.length === 0) {
		return [`${list}: expected ranges from 0 on but got: none`];
	}
	const faults: string[] = [];
	let next = 0;
	for (const { path, first, last } of ranges) {
		if (first > next) {
			faults.push(
				`${path}: expected no gap but got: none for ${next} to ${first - 1}`,
			);
		}
		next = Math.max(next, last + 1);
	}
	return faults;
}

/** A user's pool is found by a remainder, and filled by jobs. */
function poolFaults(
	ranges: readonly Placed<HostRange>[],
	hasQueues: boolean,
): readonly string[] {
	const faults = [...gaps("pools", ranges)];
	const count = (ranges.at(-1)?.last ?? -1) + 1;
	if (faults.length === 0 && !Number.isInteger(Math.log2(count))) {
		faults.push(
			`pools: expected a power of two as the number of pool shards but got: ${count}`,
		);
	}
	if (!hasQueues) {
		faults.push(
			"pools: expected queues too, whose jobs fill pools, but got: none",
		);
	}
	return faults;
}

/** A feed database belongs to a shard. */
function strayFeeds(
	shards: Ranges<HostRange>,
	feeds: Ranges<HostRange> | null,
): readonly string[] {
	const known = new Set(shardsOf(shards.placed.map(({ range }) => range)));
	return (feeds?.placed ?? []).flatMap(({ range, path }) => {
		const stray = shardsOf([range]).filter((each) => !known.has(each));
		return stray.length === 0
			? []
			: [`${path}: expected shards of "shards" but got: ${printShards(stray)}`];
	});
}

/** `3, 7 to 9` */
export function printShards(shards: readonly number[]): string {
	const runs: [number, number][] = [];
	for (const each of shards) {
		const run = runs.at(-1);
		if (run !== undefined && run[1] === each - 1) run[1] = each;
		else runs.push([each, each]);
	}
	return runs
		.map(([first, last]) => (first === last ? first : `${first} to ${last}`))
		.join(", ");
}
