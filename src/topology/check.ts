import { z } from "zod";
import { CorkboardError } from "../errors.ts";
import { MAX_SHARD } from "../id/ids.ts";
import { HOST_URL_FORMS, parseHostUrl, redactHostUrl } from "./hostUrl.ts";
import { modShards, rangeOf, shardsOf } from "./ranges.ts";
import type { HostRange, Topology } from "./types.ts";

const aShard = expected(`a shard from 0 to ${MAX_SHARD}`);
const aVersion = expected("a positive integer");
const aGeneration = expected("an integer from 0");

const shard = z.int(aShard).min(0, aShard).max(MAX_SHARD, aShard);

const url = z.string(expected("a URL")).check(({ value, issues }) => {
	if (parseHostUrl(value) !== null) return;
	// The rest of a URL may be a password.
	const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0] ?? "no scheme";
	issues.push({
		code: "custom",
		input: value,
		message: `expected ${HOST_URL_FORMS} but got: ${scheme}`,
	});
});

const hostRange = z.strictObject(
	{
		range: z
			.tuple([shard, shard], expected("[first, last]"))
			.refine(
				([first, last]) => first <= last,
				expected("a first shard that is not after the last"),
			),
		primary: url,
		replica: url.optional(),
	},
	expected("a range and its hosts"),
);

const shardRange = hostRange.extend({
	open: z.boolean(expected("true or false")),
	generation: z.int(aGeneration).min(0, aGeneration).optional(),
});

const topology = z.strictObject(
	{
		version: z.int(aVersion).min(1, aVersion),
		shards: z.array(shardRange, expected("a list of ranges")),
		lookups: z.array(hostRange, expected("a list of ranges")),
	},
	expected("a topology"),
);

/**
 * Plain data as a topology: frozen, its ranges lowest first. Throws
 * BAD_TOPOLOGY, which tells every fault at once, each as `path: sentence`.
 */
export function checkTopology(value: unknown): Topology {
	const parsed = topology.safeParse(value);
	const faults = (parsed.error?.issues ?? []).map(
		({ path, message }) => `${printPath(path)}: ${message}`,
	);
	// What is right in itself is held against the rest, even where something
	// else is not: all faults at once.
	const given = {
		shards: list(value, "shards"),
		lookups: list(value, "lookups"),
	};
	const lookups = placed("lookups", given.lookups);
	faults.push(
		...overlaps(placed("shards", given.shards)),
		...overlaps(lookups),
	);
	if (lookups.length === given.lookups?.length) faults.push(...gaps(lookups));
	faults.push(...mixed(given));
	if (given.shards?.every((each) => member(each, "open") === false)) {
		faults.push("shards: expected an open range but got: none");
	}
	if (!parsed.success || faults.length > 0) throw refusal(faults);
	return freeze(parsed.data);
}

/**
 * Whether a running fleet may go over to a newer topology (PROTOCOLS §6).
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
	faults.push(...generationFaults(old, next));
	if (modShards(next) !== modShards(old)) {
		faults.push(
			`lookups: expected ${modShards(old)} mod shards, as when the fleet was made, but got: ${modShards(next)}`,
		);
	}
	if (faults.length > 0) throw refusal(faults);
}

/**
 * A promoted replica may lack what the caches have of its shard, and an earlier
 * generation's keys may still be there. A host is the same while its address
 * is: a changed password moves nothing.
 */
function generationFaults(old: Topology, next: Topology): readonly string[] {
	const kept: number[] = [];
	const fallen: number[] = [];
	for (const shard of shardsOf(next.shards)) {
		const before = rangeOf(old, shard);
		const after = rangeOf(next, shard);
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
					`shards: expected a higher generation with another primary but got: the same one for ${printShards(kept)}`,
				]
			: []),
		...(fallen.length > 0
			? [
					`shards: expected generations that do not fall but got: a lower one for ${printShards(fallen)}`,
				]
			: []),
	];
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

function refusal(faults: readonly string[]): CorkboardError {
	return new CorkboardError("BAD_TOPOLOGY", faults.join("\n"));
}

function expected(what: string) {
	return {
		error: ({ code, input }: { code?: string; input?: unknown }) =>
			code === "unrecognized_keys"
				? undefined
				: `expected ${what} but got: ${describe(input)}`,
	};
}

/** Lists and objects are not spelled out: somewhere in them is a URL. */
function describe(input: unknown): string {
	if (input === undefined) return "nothing";
	if (input === null || typeof input !== "object") return JSON.stringify(input);
	if (!Array.isArray(input)) return "an object";
	return input.length <= 4 && input.every((each) => typeof each === "number")
		? JSON.stringify(input)
		: "a list";
}

function printPath(path: readonly PropertyKey[]): string {
	const steps = path.map((step) =>
		typeof step === "number" ? `[${step}]` : `.${String(step)}`,
	);
	return steps.length === 0 ? "topology" : steps.join("").replace(/^\./, "");
}

/** A range and where it stands in what was given. */
interface Placed {
	readonly path: string;
	readonly first: number;
	readonly last: number;
}

function placed(
	list: string,
	ranges: readonly unknown[] | null,
): readonly Placed[] {
	return (ranges ?? [])
		.flatMap((each, index) => {
			const range = hostRange.shape.range.safeParse(member(each, "range"));
			if (!range.success) return [];
			const [first, last] = range.data;
			return [{ path: `${list}[${index}].range`, first, last }];
		})
		.toSorted((a, b) => a.first - b.first);
}

function list(value: unknown, name: string): readonly unknown[] | null {
	const given = member(value, name);
	return Array.isArray(given) ? given : null;
}

function member(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null
		? (value as Readonly<Record<string, unknown>>)[name]
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
	given: Readonly<Record<"shards" | "lookups", readonly unknown[] | null>>,
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

/** Every lookup has its mod shard, so their ranges leave nothing out. */
function gaps(ranges: readonly Placed[]): readonly string[] {
	if (ranges.length === 0) {
		return ["lookups: expected ranges from 0 on but got: none"];
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

function freeze({
	version,
	shards,
	lookups,
}: z.infer<typeof topology>): Topology {
	return Object.freeze({
		version,
		shards: freezeRanges(shards),
		lookups: freezeRanges(lookups),
	});
}

function freezeRanges<
	Range extends Omit<HostRange, "replica"> & {
		replica?: string | undefined;
		generation?: number | undefined;
	},
>(ranges: readonly Range[]) {
	return Object.freeze(
		ranges
			.toSorted((a, b) => a.range[0] - b.range[0])
			.map(({ replica, generation, ...range }) =>
				Object.freeze({
					...range,
					range: Object.freeze(range.range),
					...(replica === undefined ? {} : { replica }),
					...(generation === undefined ? {} : { generation }),
				}),
			),
	);
}
