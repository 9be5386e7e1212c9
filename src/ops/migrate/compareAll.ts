import { readDecisive } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Edge, Position } from "../../storage/rows.ts";
import type { LineReader } from "../import/lineReader.ts";
import { isOfImport } from "../import/numbering.ts";
import { goneOf } from "../import/wholes.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { compareObjects } from "./compareObjects.ts";
import { partsOfKey } from "./keys.ts";
import type { TablePlan } from "./plan.ts";
import { isSampled } from "./sample.ts";
import type { Source } from "./sources/source.ts";

export interface Comparison {
	readonly objects: number;
	readonly lists: number;
	readonly equal: number;
	readonly differ: number;
	/** Changed here since. */
	readonly newerHere: number;
	/** Refused by the passes. */
	readonly bad: number;
	/** The first of those that differ. */
	readonly differences: readonly Difference[];
}

export interface Difference {
	/** `Photo:8123`, or with the name of a list. */
	readonly key: string;
	readonly what: string;
}

/** Differences that are kept. */
const KEPT = 100;
/** Lists that are compared at a time. */
const LISTS = 200;
const EDGES = 1_000;

/** Compares a share of all objects, and the whole lists that they own, with the old database, through the mapping. */
export async function compareAll(
	store: Store,
	{
		plans,
		source,
		reader,
		share,
		salt = "",
		refused,
		onProgress,
		signal,
	}: {
		readonly plans: readonly TablePlan[];
		readonly source: Source;
		readonly reader: LineReader;
		/** From 0 to 1. The same share is the same objects. */
		readonly share: number;
		/** Another one takes other objects. */
		readonly salt?: string;
		/** Keys of rows that the passes refused. */
		readonly refused: ReadonlySet<string>;
		readonly onProgress?: (table: string, objects: number) => void;
		readonly signal?: AbortSignal;
	},
): Promise<Comparison> {
	const counts = { objects: 0, lists: 0, equal: 0, differ: 0 };
	const more = { newerHere: 0, bad: 0 };
	const differences: Difference[] = [];
	const differ = (key: string, what: string) => {
		counts.differ++;
		if (differences.length < KEPT) differences.push({ key, what });
	};
	for (const plan of plans) {
		if (plan.kind === "edge") continue;
		const lists = plans.filter(({ mapping }) => mapping?.from === plan.name);
		for await (const page of source.scan(plan, {})) {
			if (signal?.aborted) break;
			const rows = page
				.flatMap(({ row }) => plan.lineOf(row) ?? [])
				.filter(({ key }) => isSampled(salt + key, share));
			const owners = new Map<string, Id>();
			for (const one of await compareObjects(store, reader, rows)) {
				counts.objects++;
				if (one.state === "equal") counts.equal++;
				else if (one.state === "newer here") more.newerHere++;
				else if (one.state === "bad" || refused.has(one.key)) more.bad++;
				else if (one.state === "differs") {
					const fields = one.fields.filter(({ isEqual }) => !isEqual);
					differ(one.key, fields.map(({ field }) => field).join(", "));
				} else differ(one.key, one.state);
				if (one.id !== null) owners.set(one.key, one.id);
			}
			for (const list of lists) {
				const keys = [...owners.keys()];
				for (let at = 0; at < keys.length; at += LISTS) {
					const some = keys.slice(at, at + LISTS);
					counts.lists += some.length;
					const found = await compareLists(store, source, {
						plan,
						list,
						owners,
						keys: some,
					});
					more.bad += found.bad;
					counts.equal += some.length - found.differences.length;
					for (const { key, what } of found.differences) differ(key, what);
				}
			}
			onProgress?.(plan.name, counts.objects);
		}
	}
	return { ...counts, ...more, differences };
}

async function compareLists(
	store: Store,
	source: Source,
	{
		plan,
		list,
		keys,
		owners,
	}: {
		readonly plan: TablePlan;
		readonly list: TablePlan;
		readonly keys: readonly string[];
		readonly owners: ReadonlyMap<string, Id>;
	},
): Promise<{
	readonly differences: readonly Difference[];
	readonly bad: number;
}> {
	const rows = await source.rowsOf(
		{ ...list, key: list.fromColumns },
		keys.map((key) => partsOfKey(plan.key, key)),
	);
	/** The times of all rows that make an edge, by both of its ends. */
	const there = new Map<string, Map<string, (number | null)[]>>();
	let bad = 0;
	for (const row of rows) {
		const one = list.lineOf(row);
		if (one === null || one.isDeleted) continue;
		if ("problem" in one.line) {
			bad++;
			continue;
		}
		const { from, to, at } = one.line;
		const own = there.get(String(from)) ?? new Map<string, (number | null)[]>();
		there.set(String(from), own);
		const times = own.get(String(to)) ?? [];
		own.set(String(to), times);
		times.push(typeof at === "string" ? Date.parse(at) : null);
	}
	const targets = [
		...new Set([...there.values()].flatMap((own) => [...own.keys()])),
	];
	const found = await readDecisive(
		store.storage,
		"lookups",
		targets.map((key) => ({ name: IMPORT_LOOKUP, key })),
	);
	const ids = new Map(targets.map((key, at) => [key, found[at]?.id ?? null]));
	const lists = new Map<string, Map<Id, Edge>>();
	const apart = new Set<Id>();
	for (const key of keys) {
		const from = owners.get(key) as Id;
		const here = new Map<Id, Edge>();
		for await (const edge of edgesOf(store, list.mapping as Mapping, from)) {
			here.set(edge.to, edge);
		}
		lists.set(key, here);
		for (const to of there.get(key)?.keys() ?? []) {
			const id = ids.get(to) ?? null;
			if (id !== null && !here.has(id)) apart.add(id).add(from);
		}
	}
	const gone = await goneOf(store, [...apart]);
	const differences: Difference[] = [];
	for (const key of keys) {
		const from = owners.get(key) as Id;
		const here = lists.get(key) as Map<Id, Edge>;
		const wrong: string[] = [];
		for (const [to, times] of there.get(key) ?? []) {
			const id = ids.get(to) ?? null;
			if (id === null || to === key) {
				bad++;
				continue;
			}
			const edge = here.get(id);
			here.delete(id);
			// An edge goes with its ends, which in the old database it mostly does not.
			if (edge === undefined && (gone.has(id) || gone.has(from))) bad++;
			else if (edge === undefined) wrong.push(`${to} is missing`);
			else if (
				!times.includes(null) &&
				!times.includes(Math.floor(edge.sequence / 1_000))
			) {
				wrong.push(`${to} has another time`);
			}
		}
		const extra = [...here.values()].filter(({ sequence }) =>
			isOfImport(sequence),
		);
		if (extra.length > 0) wrong.push(`${extra.length} more here`);
		if (wrong.length > 0) {
			const what = wrong.slice(0, 3).join("; ");
			differences.push({ key: `${key} ${list.name}`, what });
		}
	}
	return { differences, bad };
}

async function* edgesOf(
	{ storage }: Store,
	mapping: Mapping,
	from: Id,
): AsyncGenerator<Edge> {
	let after: Position | undefined;
	for (;;) {
		const [scanned] = await storage.read("lists", [
			{
				mapping,
				from,
				backward: false,
				limit: EDGES,
				...(after && { after }),
			},
		]);
		if (scanned === undefined || scanned instanceof Error) throw scanned;
		yield* scanned.edges;
		const last = scanned.edges.at(-1);
		if (last === undefined || scanned.edges.length < EDGES) return;
		after = { sequence: last.sequence, to: last.to };
	}
}
