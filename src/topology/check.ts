import { CorkboardError } from "../errors.ts";
import { MAX_SHARD } from "../id/ids.ts";
import {
	HOST_URL_FORMS,
	hostOptionFault,
	parseHostUrl,
	redactHostUrl,
} from "./hostUrl.ts";
import { modShards, rangeIn, shardsOf } from "./ranges.ts";
import type {
	FeedRange,
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
	const topology = readTopology(value, problems);
	if (topology === null || problems.length > 0) throw badTopology(problems);
	return topology;
}

/** Null where `value` is not even an object; otherwise what is valid of it. */
function readTopology(value: unknown, problems: string[]): Topology | null {
	const members = readObject(value, "topology", TOPOLOGY, problems);
	if (members === null) return null;
	const { version } = members;
	expect(
		isInteger(version, 1),
		"version",
		"a positive integer",
		version,
		problems,
	);
	const shards = readRanges(members.shards, "shards", problems, readShardRange);
	const lookups = readRanges(
		members.lookups,
		"lookups",
		problems,
		readHostRange,
	);
	const queues =
		members.queues === undefined
			? undefined
			: readRanges(members.queues, "queues", problems, readQueueRange);
	const feeds =
		members.feeds === undefined
			? undefined
			: readRanges(members.feeds, "feeds", problems, readFeedRange);
	const pools =
		members.pools === undefined
			? undefined
			: readRanges(members.pools, "pools", problems, readHostRange);
	// Ranges that are valid in themselves are checked against each other even
	// where something else is wrong, to report all problems at once.
	const placedLookups = placed("lookups", lookups);
	problems.push(
		...overlaps(placed("shards", shards)),
		...overlaps(placedLookups),
		...overlaps(placed("queues", queues ?? [])),
		...overlaps(placed("feeds", feeds ?? [])),
		...strayFeeds(shards, feeds),
	);
	if (placedLookups.length === lookups?.length) {
		problems.push(...gaps("lookups", placedLookups));
	}
	const placedPools = placed("pools", pools ?? []);
	problems.push(...overlaps(placedPools));
	if (pools !== undefined && placedPools.length === pools?.length) {
		problems.push(...poolFaults(placedPools, queues !== undefined));
	}
	problems.push(
		...mixed({
			shards: list(members.shards),
			lookups: list(members.lookups),
			queues: list(members.queues),
			feeds: list(members.feeds),
			pools: list(members.pools),
		}),
	);
	if (list(members.shards)?.every((each) => member(each, "open") === false)) {
		problems.push("shards: expected an open range but got: none");
	}
	return Object.freeze({
		version: version as number,
		shards: sorted(shards),
		lookups: sorted(lookups),
		...(queues === undefined ? {} : { queues: sorted(queues) }),
		...(feeds === undefined ? {} : { feeds: sorted(feeds) }),
		...(pools === undefined ? {} : { pools: sorted(pools) }),
	});
}

/**
 * Whether a running fleet may go over to a newer topology (docs/consistency.md, "6. Topology").
 * Throws BAD_TOPOLOGY with every reason against it.
 */
export function checkTopologyChange(old: Topology, next: Topology): void {
	const faults: string[] = [];
	if (next.version < old.version) {
		faults.push(
			`version: expected ${old.version} or later but got: ${next.version}`,
		);
	}
	if (
		next.version === old.version &&
		JSON.stringify(next) !== JSON.stringify(old)
	) {
		faults.push(
			`version: expected a version after ${old.version} for another map but got: the same version`,
		);
	}
	const kept = new Set(shardsOf(next.shards));
	const vanished = shardsOf(old.shards).filter((each) => !kept.has(each));
	if (vanished.length > 0) {
		faults.push(
			`shards: expected all shards that were there but got: none of ${printShards(vanished)}`,
		);
	}
	faults.push(
		...queueFaults(old, next),
		...generationFaults("shards", old.shards, next.shards),
		...feedFaults(old, next),
		...generationFaults("feeds", old.feeds ?? [], next.feeds ?? []),
	);
	if (modShards(next) !== modShards(old)) {
		faults.push(
			`lookups: expected ${modShards(old)} mod shards, as when the fleet was made, but got: ${modShards(next)}`,
		);
	}
	const poolShards = shardsOf(old.pools ?? []).length;
	const nextPoolShards = shardsOf(next.pools ?? []).length;
	if (poolShards > 0 && nextPoolShards !== poolShards) {
		faults.push(
			`pools: expected ${poolShards} pool shards, as when they were made, but got: ${nextPoolShards}`,
		);
	}
	if (faults.length > 0) throw badTopology(faults);
}

/** A user's pool is found by a remainder, and filled by jobs. */
function poolFaults(
	ranges: readonly Placed[],
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

/** A queue shard that takes jobs has some that nobody would find: it is drained first. */
function queueFaults(old: Topology, next: Topology): readonly string[] {
	const kept = new Set(shardsOf(next.queues ?? []));
	const inUse = (old.queues ?? []).filter(({ drain }) => drain !== true);
	const vanished = shardsOf(inUse).filter((each) => !kept.has(each));
	return vanished.length === 0
		? []
		: [
				`queues: expected all queue shards that were there without "drain": true but got: none of ${printShards(vanished)}`,
			];
}

/**
 * A promoted replica may lack what the caches have of its shard, and an earlier
 * generation's keys may still be there. A host is the same while its address
 * is: a changed password moves nothing.
 */
function generationFaults(
	list: "shards" | "feeds",
	old: readonly FeedRange[],
	next: readonly FeedRange[],
): readonly string[] {
	const kept: number[] = [];
	const fallen: number[] = [];
	for (const shard of shardsOf(next)) {
		const before = rangeIn(old, shard);
		const after = rangeIn(next, shard);
		if (before === null || after === null) continue;
		const rise = (after.generation ?? 0) - (before.generation ?? 0);
		const isMoved =
			redactHostUrl(after.primary) !== redactHostUrl(before.primary);
		if (rise < 0) fallen.push(shard);
		else if (rise === 0 && isMoved) kept.push(shard);
	}
	return [
		...(kept.length > 0
			? [
					`${list}: expected a higher generation with another primary but got: the same one for ${printShards(kept)}`,
				]
			: []),
		...(fallen.length > 0
			? [
					`${list}: expected generations that do not fall but got: a lower one for ${printShards(fallen)}`,
				]
			: []),
	];
}

/** Feed lists stay where they are: on another database nobody would find them. */
function feedFaults(old: Topology, next: Topology): readonly string[] {
	const before = new Set(shardsOf(old.feeds ?? []));
	const after = new Set(shardsOf(next.feeds ?? []));
	const known = shardsOf(old.shards);
	const left = known.filter((each) => before.has(each) && !after.has(each));
	const come = known.filter((each) => !before.has(each) && after.has(each));
	return [
		...(left.length > 0
			? [
					`feeds: expected all shards that were there but got: none of ${printShards(left)}`,
				]
			: []),
		...(come.length > 0
			? [
					`feeds: expected only shards that are new, because feed lists of others are with their shard, but got: ${printShards(come)}`,
				]
			: []),
	];
}

/** A feed database belongs to a shard. */
function strayFeeds(
	shards: readonly (HostRange | null)[] | null,
	feeds: readonly (HostRange | null)[] | null | undefined,
): readonly string[] {
	const known = new Set(
		shardsOf((shards ?? []).filter((range) => range !== null)),
	);
	return (feeds ?? []).flatMap((range, index) => {
		if (range === null) return [];
		const stray = shardsOf([range]).filter((each) => !known.has(each));
		return stray.length === 0
			? []
			: [
					`feeds[${index}].range: expected shards of "shards" but got: ${printShards(stray)}`,
				];
	});
}

/** `3, 7 to 9` */
function printShards(shards: readonly number[]): string {
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

function badTopology(problems: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_TOPOLOGY", problems.join("\n"));
}

const TOPOLOGY = {
	what: "a topology",
	keys: ["version", "shards", "lookups", "queues", "feeds", "pools"],
};
const HOSTS = {
	what: "a range and its hosts",
	keys: ["range", "primary", "replica"],
};
const QUEUES = { ...HOSTS, keys: [...HOSTS.keys, "drain"] };
const FEEDS = { ...HOSTS, keys: [...HOSTS.keys, "generation"] };
const SHARDS = {
	...HOSTS,
	keys: [...HOSTS.keys, "open", "weight", "generation"],
};

type Members = Readonly<Record<string, unknown>>;

function readObject(
	value: unknown,
	path: string,
	{ what, keys }: { readonly what: string; readonly keys: readonly string[] },
	problems: string[],
): Members | null {
	const isObject =
		typeof value === "object" && value !== null && !Array.isArray(value);
	expect(isObject, path, what, value, problems);
	if (!isObject) return null;
	for (const key of Object.keys(value)) {
		if (keys.includes(key)) continue;
		problems.push(
			`${path}: expected only ${keys.join(", ")} but got: ${JSON.stringify(key)}`,
		);
	}
	return value as Members;
}

/** Null where it is no list; null for each range that is not valid. */
function readRanges<Range>(
	value: unknown,
	path: string,
	problems: string[],
	read: (value: unknown, path: string, problems: string[]) => Range | null,
): readonly (Range | null)[] | null {
	expect(Array.isArray(value), path, "a list of ranges", value, problems);
	return (
		list(value)?.map((each, index) =>
			read(each, `${path}[${index}]`, problems),
		) ?? null
	);
}

function readShardRange(
	value: unknown,
	path: string,
	problems: string[],
): ShardRange | null {
	const members = readObject(value, path, SHARDS, problems);
	const hosts = members && readHosts(members, path, problems);
	if (members === null) return null;
	const { open, weight, generation } = members;
	expect(
		typeof open === "boolean",
		`${path}.open`,
		"true or false",
		open,
		problems,
	);
	if (weight !== undefined) {
		expect(
			typeof weight === "number" && weight > 0 && weight <= 1_000,
			`${path}.weight`,
			"a number above 0, at most 1000",
			weight,
			problems,
		);
	}
	checkGeneration(generation, path, problems);
	return (
		hosts &&
		Object.freeze({
			...hosts,
			open: open as boolean,
			...(weight === undefined ? {} : { weight: weight as number }),
			...(generation === undefined ? {} : { generation: generation as number }),
		})
	);
}

function readQueueRange(
	value: unknown,
	path: string,
	problems: string[],
): QueueRange | null {
	const members = readObject(value, path, QUEUES, problems);
	const hosts = members && readHosts(members, path, problems);
	if (members === null) return null;
	const { drain } = members;
	if (drain !== undefined) {
		expect(
			typeof drain === "boolean",
			`${path}.drain`,
			"true or false",
			drain,
			problems,
		);
	}
	return (
		hosts &&
		Object.freeze({
			...hosts,
			...(drain === undefined ? {} : { drain: drain as boolean }),
		})
	);
}

function readFeedRange(
	value: unknown,
	path: string,
	problems: string[],
): FeedRange | null {
	const members = readObject(value, path, FEEDS, problems);
	const hosts = members && readHosts(members, path, problems);
	if (members === null) return null;
	const { generation } = members;
	checkGeneration(generation, path, problems);
	return (
		hosts &&
		Object.freeze({
			...hosts,
			...(generation === undefined ? {} : { generation: generation as number }),
		})
	);
}

function checkGeneration(
	generation: unknown,
	path: string,
	problems: string[],
): void {
	if (generation === undefined) return;
	expect(
		isInteger(generation, 0),
		`${path}.generation`,
		"an integer from 0",
		generation,
		problems,
	);
}

function readHostRange(
	value: unknown,
	path: string,
	problems: string[],
): HostRange | null {
	const members = readObject(value, path, HOSTS, problems);
	const hosts = members && readHosts(members, path, problems);
	return hosts && Object.freeze(hosts);
}

/** Null where the range itself is not valid. */
function readHosts(
	{ range: given, primary, replica }: Members,
	path: string,
	problems: string[],
): HostRange | null {
	const range = readRange(given, `${path}.range`, problems);
	checkUrl(primary, `${path}.primary`, problems);
	if (replica !== undefined) checkUrl(replica, `${path}.replica`, problems);
	return (
		range && {
			range,
			primary: primary as string,
			...(replica === undefined ? {} : { replica: replica as string }),
		}
	);
}

function readRange(
	value: unknown,
	path: string,
	problems: string[],
): HostRange["range"] | null {
	const isPair = Array.isArray(value) && value.length === 2;
	expect(isPair, path, "[first, last]", value, problems);
	if (!isPair) return null;
	const before = problems.length;
	for (const [index, shard] of value.entries()) {
		expect(
			isInteger(shard, 0, MAX_SHARD),
			`${path}[${index}]`,
			`a shard from 0 to ${MAX_SHARD}`,
			shard,
			problems,
		);
	}
	if (problems.length > before) return null;
	const [first, last] = value as [number, number];
	expect(
		first <= last,
		path,
		"a first shard that is not after the last",
		value,
		problems,
	);
	return first <= last ? Object.freeze([first, last] as const) : null;
}

function checkUrl(value: unknown, path: string, problems: string[]): void {
	expect(typeof value === "string", path, "a URL", value, problems);
	if (typeof value !== "string" || parseHostUrl(value) !== null) return;
	// The rest of a URL may be a password.
	const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? "no scheme";
	const fault = hostOptionFault(value);
	const got = fault === null ? scheme : `${scheme} ${fault}`;
	problems.push(`${path}: expected ${HOST_URL_FORMS} but got: ${got}`);
}

function expect(
	holds: boolean,
	path: string,
	expected: string,
	got: unknown,
	problems: string[],
): void {
	if (holds) return;
	problems.push(`${path}: expected ${expected} but got: ${describe(got)}`);
}

function isInteger(
	value: unknown,
	least: number,
	most = Number.MAX_SAFE_INTEGER,
) {
	return (
		Number.isSafeInteger(value) &&
		(value as number) >= least &&
		(value as number) <= most
	);
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

/** A valid range and its path in the file. */
interface Placed {
	readonly path: string;
	readonly first: number;
	readonly last: number;
}

function placed(
	list: string,
	ranges: readonly (HostRange | null)[] | null,
): readonly Placed[] {
	return (ranges ?? [])
		.flatMap((each, index) => {
			if (each === null) return [];
			const [first, last] = each.range;
			return [{ path: `${list}[${index}].range`, first, last }];
		})
		.toSorted((a, b) => a.first - b.first);
}

function list(value: unknown): readonly unknown[] | null {
	return Array.isArray(value) ? value : null;
}

function member(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null
		? (value as Members)[name]
		: undefined;
}

function overlaps(ranges: readonly Placed[]): readonly string[] {
	const faults: string[] = [];
	let widest: Placed | undefined;
	for (const range of ranges) {
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
function mixed(
	given: Readonly<
		Record<
			"shards" | "lookups" | "queues" | "feeds" | "pools",
			readonly unknown[] | null
		>
	>,
): readonly string[] {
	const schemes = new Map<string, string>();
	for (const [name, ranges] of Object.entries(given)) {
		ranges?.forEach((range, index) => {
			for (const role of ["primary", "replica"]) {
				const url = member(range, role);
				const parsed = typeof url === "string" ? parseHostUrl(url) : null;
				const path = `${name}[${index}].${role}`;
				if (parsed !== null && !schemes.has(parsed.scheme)) {
					schemes.set(parsed.scheme, path);
				}
			}
		});
	}
	const [first, second] = schemes;
	return first === undefined || second === undefined
		? []
		: [
				`${second[1]}: expected ${first[0]}:, as ${first[1]}, because all hosts of a topology are of one kind, but got: ${second[0]}:`,
			];
}

/** Every lookup has its mod shard, and every user a pool shard, so their ranges leave nothing out. */
function gaps(list: string, ranges: readonly Placed[]): readonly string[] {
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

function sorted<Range extends HostRange>(
	ranges: readonly (Range | null)[] | null,
): readonly Range[] {
	return Object.freeze(
		(ranges ?? [])
			.filter((range) => range !== null)
			.toSorted((a, b) => a.range[0] - b.range[0]),
	);
}
