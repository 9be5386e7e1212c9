import {
	setImmediate as nextTurn,
	setTimeout as sleep,
} from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import { databaseOfShard } from "../../storage/feedShards.ts";
import { entryName } from "../../storage/keys.ts";
import type { EdgeKey, ListKey, LookupRow } from "../../storage/rows.ts";
import { walkOwnLookups } from "../graphId.ts";
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
import type { Damage } from "./damage.ts";
import {
	checkOutbox,
	type PendingEntries,
	readPendingEntries,
} from "./pendingEntries.ts";
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

interface WalkOptions {
	readonly types: StoredTypes | undefined;
	readonly unchecked: Unchecked;
	/** Whose rows are walked; all if absent. */
	readonly only?: ShardsToCheck;
	readonly signal?: AbortSignal;
	/** Awaited before the walk continues. */
	readonly onDamage: (damages: readonly Damage[]) => Promise<void>;
	readonly onProgress: (
		progress: Checked & { readonly suspects: number },
	) => void;
}

export interface Walked {
	readonly checked: Checked;
	/** Rows that disagreed in every look but changed during each, so that it may be the writes. */
	readonly changing: number;
	/** Outbox entries that are not delivered yet. */
	readonly pendingEntries: number;
	readonly isAborted: boolean;
}

/** Tables that are walked side by side: the walk of a small one is mostly the way to its host. Fewer than the connections to a host. */
const AT_ONCE = 8;
/** So many suspects are looked at together, or as many as the walk of one kind of rows found. */
const SUSPECTS = 1_000;
/** After tables are gone from a host, the map that says where they are was published some time ago. Milliseconds. */
const NEWER_MS = 3_000;

/** One pass over all rows. Repairs need this order: lookups before the objects that have the keys, edges before their counts. */
export async function walkGraph(
	store: Store,
	options: WalkOptions,
): Promise<Walked> {
	const pending = await readPendingEntries(store, options.unchecked);
	return new GraphWalk(store, options, pending).run();
}

class GraphWalk {
	readonly #store: Store;
	readonly #options: WalkOptions;
	readonly #reader: Reader;
	readonly #shards: ShardsToCheck;
	readonly #checked = { objects: 0, edges: 0, lists: 0, lookups: 0 };
	readonly #suspicions: Suspicions;
	#pending: PendingEntries;
	#changing = 0;
	/** For a newer one than this was waited in vain. */
	#latest: Store["storage"]["map"] | null = null;
	#settling: Promise<void> = Promise.resolve();

	constructor(store: Store, options: WalkOptions, pending: PendingEntries) {
		const { map } = store.storage;
		this.#store = store;
		this.#options = options;
		this.#reader = new Reader(store, options.unchecked);
		this.#shards = options.only ?? {
			shards: map.shards,
			modShards: Array.from({ length: map.modShards }, (_, shard) => shard),
		};
		this.#pending = pending;
		this.#suspicions = new Suspicions(() => this.#readPending());
	}

	async run(): Promise<Walked> {
		for (const walk of [
			() => this.#walkLookups(),
			() => this.#walkObjects(),
			() => this.#walkEdges(),
			() => this.#walkLists(),
		]) {
			if (this.#isAborted) break;
			await walk();
			await this.#settle();
		}
		if (!this.#isAborted) await this.#reportStuck();
		return {
			checked: this.#checked,
			changing: this.#changing,
			pendingEntries: this.#pending.count,
			isAborted: this.#isAborted,
		};
	}

	get #isAborted(): boolean {
		return this.#options.signal?.aborted === true;
	}

	async #readPending(): Promise<PendingEntries> {
		this.#pending = await readPendingEntries(
			this.#store,
			this.#options.unchecked,
		);
		return this.#pending;
	}

	/** Entries that were stuck at the beginning and are at the end. */
	async #reportStuck(): Promise<void> {
		const before = new Set(
			this.#pending.stuck.map(({ row }) => entryName(row)),
		);
		const { stuck } = await this.#readPending();
		const still = stuck.filter(({ row }) => before.has(entryName(row)));
		await this.#options.onDamage(checkOutbox(this.#store, still));
	}

	/** One at a time: what is repaired is read by the next. */
	#settle(): Promise<void> {
		this.#settling = this.#settling.then(() => this.#settleAll());
		return this.#settling;
	}

	async #settleAll(): Promise<void> {
		this.#progress(this.#suspicions.size);
		const settled = await this.#suspicions.settle();
		this.#changing += settled.changing;
		await this.#options.onDamage(settled.damage);
	}

	#progress(suspects: number): void {
		this.#options.onProgress({ ...this.#checked, suspects });
	}

	async #sideBySide<T>(
		items: Iterable<T>,
		walk: (item: T) => Promise<void>,
	): Promise<void> {
		const waiting = [...items].values();
		const work = async () => {
			for (const item of waiting) await walk(item);
		};
		await Promise.all(Array.from({ length: AT_ONCE }, work));
	}

	/** Walks one table, again where it has moved meanwhile. If its host does not answer, the rest is walked all the same. */
	async #walk<Row>(
		what: keyof Checked,
		place: string,
		rows: () => AsyncIterable<readonly Row[]>,
		check: (rows: readonly Row[]) => Promise<void>,
	): Promise<void> {
		const before = this.#store.storage.map;
		let walked = 0;
		if (this.#isAborted) return;
		try {
			for await (const some of rows()) {
				await check(some);
				walked += some.length;
				this.#checked[what] += some.length;
				this.#progress(0);
				if (this.#suspicions.size >= SUSPECTS) await this.#settle();
				await nextTurn();
				if (this.#isAborted) return;
			}
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			if (error.details.kind === "moved" && (await this.#hasNewer(before))) {
				this.#checked[what] -= walked;
				await this.#walk(what, place, rows, check);
			} else this.#options.unchecked.note(place, error);
		}
	}

	/** Whether a newer map has come, or comes soon; if none came for one, it is not waited for again. */
	async #hasNewer(map: Store["storage"]["map"]): Promise<boolean> {
		const { storage } = this.#store;
		const until = performance.now() + NEWER_MS;
		while (storage.map === map && this.#latest !== map) {
			if (performance.now() > until) this.#latest = map;
			else await sleep(100);
		}
		return storage.map !== map;
	}

	/** Notes which of the subjects have to be looked at again. */
	async #suspect<Subject>(
		check: Check<Subject>,
		subjects: ReadonlyMap<string, Subject>,
		found: Promise<readonly Damage[]>,
	): Promise<void> {
		const names = new Set((await found).map(({ subject }) => subject));
		this.#suspicions.add(
			check,
			new Map([...subjects].filter(([name]) => names.has(name))),
		);
	}

	/** Reports the misplaced rows and returns the others. */
	async #inPlace<Row>(
		rows: readonly Row[],
		misplaced: (row: Row) => Damage | null,
	): Promise<readonly Row[]> {
		const found = rows.map(misplaced);
		await this.#options.onDamage(found.filter((damage) => damage !== null));
		return rows.filter((_, at) => found[at] === null);
	}

	async #walkLookups(): Promise<void> {
		const reader = this.#reader;
		const check = async (keys: readonly LookupRow[]) =>
			checkLookups(reader, (await reader.lookups(keys)).filter(isRead));
		await this.#sideBySide(this.#shards.modShards, (shard) =>
			this.#walk(
				"lookups",
				`${databaseName("mod", shard)}.lookups`,
				() => walkOwnLookups(this.#store.storage, shard),
				async (all) => {
					const rows = await this.#inPlace(all, (row) =>
						misplacedLookup(this.#store, row, shard),
					);
					const subjects = named(rows, lookupSubject);
					await this.#suspect(check, subjects, checkLookups(reader, rows));
				},
			),
		);
	}

	async #walkObjects(): Promise<void> {
		const reader = this.#reader;
		const { types } = this.#options;
		for (const type of this.#store.model.objects.values()) {
			const check = async (ids: readonly Id[]) =>
				checkObjects(reader, type, await reader.contents(ids), types);
			await this.#sideBySide(this.#shards.shards, (shard) =>
				this.#walk(
					"objects",
					`${databaseName("db", shard)}.${type.table}`,
					() => this.#store.storage.walk("objects", shard, type.name),
					async (rows) => {
						const contents = new Map(
							rows.map(({ id, data }) => [id, parseContent(data)]),
						);
						const subjects = named(
							[...contents.keys()],
							(id) => `object ${id}`,
						);
						const found = checkObjects(reader, type, contents, types);
						await this.#suspect(check, subjects, found);
					},
				),
			);
		}
	}

	async #walkEdges(): Promise<void> {
		const reader = this.#reader;
		await this.#sideBySide(this.#lists(), ({ mapping, shard, place }) => {
			const check = async (keys: readonly EdgeKey[]) =>
				checkEdges(reader, mapping, (await reader.edges(keys)).filter(isRead));
			return this.#walk(
				"edges",
				`${databaseOfShard(place)}.${mapping.table}`,
				() => this.#store.storage.walk("edges", place, mapping),
				async (all) => {
					const edges = await this.#inPlace(all, (edge) =>
						misplacedEdge(mapping, edge, shard),
					);
					const keys = edges.map(({ from, to }) => ({ mapping, from, to }));
					const subjects = named(keys, edgeSubject);
					const found = checkEdges(reader, mapping, edges);
					await this.#suspect(check, subjects, found);
				},
			);
		});
	}

	async #walkLists(): Promise<void> {
		const check = (lists: readonly ListKey[]) =>
			checkCounts(this.#reader, lists);
		await this.#sideBySide(this.#lists(), ({ mapping, shard, place }) =>
			this.#walk(
				"lists",
				`${databaseOfShard(place)}.lists`,
				() => walkCounts(this.#store.storage, place, mapping),
				async (all) => {
					const lists = await this.#inPlace(all, (list) =>
						misplacedList(mapping, list, shard),
					);
					const suspects = await suspectLists(this.#reader, mapping, lists);
					this.#suspicions.add(check, named(suspects, listSubject));
				},
			),
		);
	}

	/** `place`: where the lists of the shard are in this mapping. */
	*#lists() {
		const { model, storage } = this.#store;
		for (const mapping of model.mappings.values()) {
			for (const shard of this.#shards.shards) {
				const place = storage.map.shardOfLists(mapping, shard);
				yield { mapping, shard, place };
			}
		}
	}
}

function isRead<Row>(row: Row | null | typeof UNREAD): row is Row {
	return row !== null && row !== UNREAD;
}

function named<Subject>(
	subjects: readonly Subject[],
	nameOf: (subject: Subject) => string,
): ReadonlyMap<string, Subject> {
	return new Map(subjects.map((subject) => [nameOf(subject), subject]));
}
