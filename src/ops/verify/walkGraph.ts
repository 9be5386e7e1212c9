import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import { databaseOfShard } from "../../storage/feedShards.ts";
import { entryName } from "../../storage/keys.ts";
import type {
	Edge,
	EdgeKey,
	ListKey,
	LookupRow,
} from "../../storage/storage.ts";
import {
	checkCounts,
	listSubject,
	misplacedList,
	suspectLists,
	walkCounts,
} from "./checkCounts.ts";
import { checkEdges, edgeSubject, misplacedEdge } from "./checkEdges.ts";
import {
	checkLookups,
	lookupSubject,
	misplacedLookup,
} from "./checkLookups.ts";
import { checkObjects } from "./checkObjects.ts";
import { checkOutbox } from "./checkOutbox.ts";
import type { Damage } from "./damage.ts";
import { type PendingEntries, readPendingEntries } from "./pendingEntries.ts";
import { databaseName } from "./places.ts";
import { Reader, UNREAD } from "./reader.ts";
import { parseContent } from "./storedContent.ts";
import { type Check, Suspicions } from "./suspicions.ts";
import type { Unchecked } from "./unchecked.ts";

/** Numbers of rows that were checked. */
export interface Checked {
	readonly objects: number;
	readonly edges: number;
	readonly lists: number;
	readonly lookups: number;
}

/** Rows of these are checked, against those of any. */
export interface ShardsToCheck {
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
}

export interface WalkOptions {
	readonly types: StoredTypes | undefined;
	readonly unchecked: Unchecked;
	/** Whose rows are walked; all if absent. */
	readonly only?: ShardsToCheck;
	readonly signal?: AbortSignal;
	/** Awaited before the walk goes on. */
	readonly onDamage: (damages: readonly Damage[]) => Promise<void>;
	readonly onProgress: (
		progress: Checked & { readonly suspects: number },
	) => void;
}

export interface Walked {
	readonly checked: Checked;
	readonly changing: number;
	readonly pendingEntries: number;
	readonly isAborted: boolean;
}

/** So many suspects are looked at together, or as many as the walk of one kind of rows found. */
const SUSPECTS = 1_000;

/** One pass over all rows. Repairs need this order: lookups before the objects that have the keys, edges before their counts. */
export async function walkGraph(
	store: Store,
	options: WalkOptions,
): Promise<Walked> {
	const { model, storage } = store;
	const { unchecked, signal, onDamage } = options;
	const {
		shards = storage.map.shards,
		modShards = Array.from(
			{ length: storage.map.modShards },
			(_, shard) => shard,
		),
	} = options.only ?? {};
	const reader = new Reader(store, unchecked);
	const checked = { objects: 0, edges: 0, lists: 0, lookups: 0 };
	let pending: PendingEntries = await readPendingEntries(store, unchecked);
	const suspicions = new Suspicions(async () => {
		pending = await readPendingEntries(store, unchecked);
		return pending;
	});
	let changing = 0;
	const isAborted = () => signal?.aborted === true;

	/** Counts checked rows. Returns false once the signal is aborted. */
	async function walked(what: keyof Checked, count: number): Promise<boolean> {
		checked[what] += count;
		options.onProgress({ ...checked, suspects: 0 });
		if (suspicions.size >= SUSPECTS) await settle();
		await nextTurn();
		return !isAborted();
	}

	async function settle(): Promise<void> {
		options.onProgress({ ...checked, suspects: suspicions.size });
		const settled = await suspicions.settle();
		changing += settled.changing;
		await onDamage(settled.damage);
	}

	/** Notes which of the subjects have to be looked at again. */
	async function suspect<Subject>(
		check: Check<Subject>,
		subjects: ReadonlyMap<string, Subject>,
		found: Promise<readonly Damage[]>,
	): Promise<void> {
		const names = new Set((await found).map(({ subject }) => subject));
		suspicions.add(
			check,
			new Map([...subjects].filter(([name]) => names.has(name))),
		);
	}

	/** Walks one table. If its host does not answer, the rest is walked all the same. */
	async function walk<Row>(
		place: string,
		rows: () => AsyncIterable<readonly Row[]>,
		what: keyof Checked,
		check: (rows: readonly Row[]) => Promise<void>,
	): Promise<void> {
		if (isAborted()) return;
		try {
			for await (const some of rows()) {
				await check(some);
				if (!(await walked(what, some.length))) return;
			}
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			unchecked.note(place, error);
		}
	}

	/** Reports the misplaced rows and returns the others. */
	async function inPlace<Row>(
		rows: readonly Row[],
		misplaced: (row: Row) => Damage | null,
	): Promise<readonly Row[]> {
		const found = rows.map(misplaced);
		await onDamage(found.filter((damage) => damage !== null));
		return rows.filter((_, at) => found[at] === null);
	}

	async function walkLookups(): Promise<void> {
		const check = async (keys: readonly LookupRow[]) => {
			const rows = await reader.lookups(keys);
			return checkLookups(
				reader,
				rows.filter((row) => row !== null && row !== UNREAD),
			);
		};
		for (const shard of modShards) {
			await walk(
				`${databaseName("mod", shard)}.lookups`,
				() => storage.walk("lookups", shard),
				"lookups",
				async (all) => {
					const rows = await inPlace(all, (row) =>
						misplacedLookup(store, row, shard),
					);
					const subjects = named(rows, lookupSubject);
					await suspect(check, subjects, checkLookups(reader, rows));
				},
			);
		}
	}

	async function walkObjects(): Promise<void> {
		for (const type of model.objects.values()) {
			const check = async (ids: readonly Id[]) =>
				checkObjects(reader, type, await reader.contents(ids), options.types);
			for (const shard of shards) {
				await walk(
					`${databaseName("db", shard)}.${type.table}`,
					() => storage.walk("objects", shard, type.name),
					"objects",
					async (rows) => {
						const contents = new Map(
							rows.map(({ id, data }) => [id, parseContent(data)]),
						);
						await suspect(
							check,
							named([...contents.keys()], (id) => `object ${id}`),
							checkObjects(reader, type, contents, options.types),
						);
					},
				);
			}
		}
	}

	async function walkEdges(): Promise<void> {
		for (const mapping of model.mappings.values()) {
			const check = async (keys: readonly EdgeKey[]) => {
				const edges = await reader.edges(keys);
				return checkEdges(
					reader,
					mapping,
					edges.filter(
						(edge): edge is Edge => edge !== null && edge !== UNREAD,
					),
				);
			};
			for (const shard of shards) {
				await walk(
					`${databaseOfShard(storage.map.shardOfLists(mapping, shard))}.${mapping.table}`,
					() =>
						storage.walk(
							"edges",
							storage.map.shardOfLists(mapping, shard),
							mapping,
						),
					"edges",
					async (all) => {
						const edges = await inPlace(all, (edge) =>
							misplacedEdge(mapping, edge, shard),
						);
						const keys = edges.map(({ from, to }) => ({ mapping, from, to }));
						const subjects = named(keys, edgeSubject);
						await suspect(check, subjects, checkEdges(reader, mapping, edges));
					},
				);
			}
		}
	}

	async function walkLists(): Promise<void> {
		const check = (lists: readonly ListKey[]) => checkCounts(reader, lists);
		for (const mapping of model.mappings.values()) {
			for (const shard of shards) {
				await walk(
					`${databaseOfShard(storage.map.shardOfLists(mapping, shard))}.lists`,
					() =>
						walkCounts(
							storage,
							storage.map.shardOfLists(mapping, shard),
							mapping,
						),
					"lists",
					async (all) => {
						const lists = await inPlace(all, (list) =>
							misplacedList(mapping, list, shard),
						);
						const suspects = await suspectLists(reader, mapping, lists);
						suspicions.add(check, named(suspects, listSubject));
					},
				);
			}
		}
	}

	for (const phase of [walkLookups, walkObjects, walkEdges, walkLists]) {
		if (isAborted()) break;
		await phase();
		await settle();
	}
	if (!isAborted()) {
		// Stuck at the beginning and at the end.
		const stuck = new Set(pending.stuck.map(({ row }) => entryName(row)));
		pending = await readPendingEntries(store, unchecked);
		await onDamage(
			checkOutbox(
				store,
				pending.stuck.filter(({ row }) => stuck.has(entryName(row))),
			),
		);
	}
	return {
		checked,
		changing,
		pendingEntries: pending.count,
		isAborted: isAborted(),
	};
}

function named<Subject>(
	subjects: readonly Subject[],
	nameOf: (subject: Subject) => string,
): ReadonlyMap<string, Subject> {
	return new Map(subjects.map((subject) => [nameOf(subject), subject]));
}
