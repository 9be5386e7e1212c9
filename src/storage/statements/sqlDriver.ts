import type { Model } from "../../model/types.ts";
import type { CallOptions, StatementTrace } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Driver, HostRead, KeyAt, ShardLocation } from "../driver.ts";
import type {
	FailedDelivery,
	KeyResult,
	LookupChange,
	LookupRow,
	OutboxKey,
	OutboxLook,
	OutboxPosition,
	SeenEntries,
} from "../rows.ts";
import type {
	ReadKey,
	ReadKind,
	ReadResult,
	WalkKind,
	WalkOf,
	WalkRow,
} from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import type { Procedure } from "./batch.ts";
import { chunks, type Dialect, type Select, type Write } from "./dialect.ts";
import { changeLookups } from "./lookups.ts";
import {
	dueEntries,
	entriesOf,
	nextEntry,
	sizeOf,
	untakenEntries,
} from "./outbox.ts";
import {
	deleteEntries,
	ENTRIES,
	postponeEntries,
	takeEntries,
	takenEntries,
} from "./outboxWrites.ts";
import { type CommonKind, selectsOf } from "./reads.ts";
import { WALKS } from "./walks.ts";

/** The part of a driver that every database does by the same statements. `Options`: what a statement is sent with. */
export abstract class SqlDriver<P extends ShardLocation, Options> {
	protected readonly model: Model;
	protected readonly dialect: Dialect<P>;

	constructor(model: Model, dialect: Dialect<P>) {
		this.model = model;
		this.dialect = dialect;
	}

	protected abstract optionsOf(
		location: P,
		call?: CallOptions,
		trace?: StatementTrace,
	): Options;

	/** The results of SELECTs with the same columns, of shards of one host: in one statement, if there are several. */
	protected abstract select<Result>(
		host: P["host"],
		selects: readonly Select<Result>[],
		options: Options,
	): MaybePromise<readonly (readonly Result[])[]>;

	/** Executes a procedure whose statements may commit one by one. */
	protected abstract perform<Result>(
		location: P,
		procedure: Procedure<P, Result>,
		options: Options,
	): MaybePromise<Result>;

	/** Executes writes that can be repeated without harm, in one round trip. How many rows each changed. */
	protected abstract write(
		location: P,
		writes: readonly Write[],
		options: Options,
	): MaybePromise<readonly number[]>;

	/** All kinds that databases read alike, with the most keys of one call. */
	protected commonReads(
		maxKeys: (kind: CommonKind | "entries") => number,
	): Omit<Driver<P>["reads"], "lists"> {
		const read = <K extends CommonKind>(kind: K) =>
			this.#readOf(kind, maxKeys(kind));
		return {
			objects: read("objects"),
			edges: read("edges"),
			renumberings: read("renumberings"),
			counts: read("counts"),
			longestLists: read("longestLists"),
			lookups: read("lookups"),
			entries: this.readBy(maxKeys("entries"), {
				read: (host, some, options) => {
					const keys = some.map(({ key }) => key);
					return this.#selectOne(host, entriesOf(this.dialect, keys), options);
				},
			}),
			outboxes: this.#ofOutbox((host, look, options) =>
				this.#look(host, look, options),
			),
			outboxSizes: this.#ofOutbox((host, key, options) =>
				this.#selectOne(host, sizeOf(this.dialect, key), options),
			),
		};
	}

	/** One key a call, because one host has one outbox. */
	#ofOutbox<K extends "outboxes" | "outboxSizes">(
		read: (
			host: P["host"],
			key: ReadKey<K>,
			options: Options,
		) => MaybePromise<readonly ReadResult<K>[]>,
	): HostRead<K, P> {
		return this.readBy<K>(1, {
			read: (host, some, options) => {
				const [{ key }] = some as [KeyAt<ReadKey<K>, P>];
				return read(host, key, options);
			},
		});
	}

	/** By one statement, if there is one. */
	#look(
		host: P["host"],
		{ outbox: { shards }, ...asked }: OutboxLook,
		options: Options,
	): MaybePromise<readonly [SeenEntries]> {
		const { dialect } = this;
		const untaken =
			asked.untaken && untakenEntries(dialect, shards, asked.untaken);
		const due = asked.due && dueEntries(dialect, shards, asked.due);
		const next = asked.next ? nextEntry(dialect) : null;
		const selects: readonly Select<unknown>[] = [next, untaken, due].filter(
			(select) => select !== null,
		);
		if (selects.length === 0) return [{ untaken: [], due: [], next: null }];
		return andThen(this.select<unknown>(host, selects, options), (found) => {
			const of = (select: Select<unknown> | null) =>
				select === null ? [] : (found[selects.indexOf(select)] ?? []);
			return [
				{
					untaken: of(untaken) as SeenEntries["untaken"],
					due: of(due) as SeenEntries["due"],
					next: (of(next) as readonly number[])[0] ?? null,
				},
			];
		});
	}

	#selectOne<Result>(
		host: P["host"],
		select: Select<Result>,
		options: Options,
	): MaybePromise<readonly Result[]> {
		return andThen(this.select(host, [select], options), ([rows = []]) => rows);
	}

	#readOf<K extends CommonKind>(kind: K, maxKeys: number): HostRead<K, P> {
		return this.readBy(maxKeys, {
			read: (host, some, options) => this.readKeys(kind, host, some, options),
		});
	}

	protected readBy<K extends ReadKind>(
		maxKeys: number,
		reader: {
			read(
				host: P["host"],
				some: readonly KeyAt<ReadKey<K>, P>[],
				options: Options,
			): MaybePromise<readonly ReadResult<K>[]>;
		},
	): HostRead<K, P> {
		return {
			maxKeys,
			read: (host, some, call) => {
				const [first] = some;
				return first === undefined
					? []
					: reader.read(host, some, this.optionsOf(first.shard, call));
			},
		};
	}

	/** Keys of one host. */
	protected readKeys<K extends CommonKind>(
		kind: K,
		host: P["host"],
		keys: readonly KeyAt<ReadKey<K>, P>[],
		options: Options,
	): MaybePromise<readonly ReadResult<K>[]> {
		const parts = selectsOf(kind, this.dialect, this.model, keys);
		// A key of no table has no result.
		const all = new Array(keys.length).fill(null);
		if (parts.length === 0) return all;
		const selects = parts.map(({ select }) => select);
		return andThen(this.select(host, selects, options), (results) => {
			for (const [part, { at }] of parts.entries()) {
				for (const [nth, index] of at.entries()) {
					all[index] = results[part]?.[nth];
				}
			}
			return all;
		});
	}

	walk<K extends WalkKind>(
		kind: K,
		location: P,
		of: WalkOf<K>,
		last: WalkRow<K> | null,
		limit: number,
	): MaybePromise<readonly WalkRow<K>[]> {
		const { dialect, model } = this;
		const options = this.optionsOf(location);
		const select = WALKS[kind](dialect, model, location, of, last, limit);
		return this.#selectOne(location.host, select, options);
	}

	/**
	 * One statement, as a rule; a second one reads which of them it took if others
	 * were faster. `until` is therefore a value that no other process uses.
	 */
	async takeEntries(
		location: P,
		entries: readonly OutboxPosition[],
		until: number,
		trace: StatementTrace | undefined,
	): Promise<readonly OutboxKey[]> {
		const { dialect } = this;
		const options = this.optionsOf(location, {}, trace);
		const taken: OutboxKey[] = [];
		for (const some of chunks(entries, ENTRIES)) {
			const write = takeEntries(dialect, some, until);
			const [changed = 0] = await this.write(location, [write], options);
			if (changed === 0) continue;
			const select = takenEntries(dialect, some, until);
			const keys =
				changed === some.length
					? some.map(({ shard, local }) => ({ shard, local }))
					: await this.#selectOne(location.host, select, options);
			taken.push(...keys);
		}
		return taken;
	}

	recordFailedDeliveries(
		location: P,
		failures: readonly FailedDelivery[],
		trace: StatementTrace | undefined,
	): MaybePromise<void> {
		return this.#write(
			location,
			postponeEntries(this.dialect, failures),
			trace,
		);
	}

	deleteOutboxEntries(
		location: P,
		keys: readonly OutboxKey[],
		trace: StatementTrace | undefined,
	): MaybePromise<void> {
		return this.#write(location, deleteEntries(this.dialect, keys), trace);
	}

	#write(
		location: P,
		writes: readonly Write[],
		trace: StatementTrace | undefined,
	): MaybePromise<void> {
		const options = this.optionsOf(location, {}, trace);
		return andThen(this.write(location, writes, options), () => {});
	}

	/** Side by side on each mod shard. What fails there is the result of its keys. */
	async compareAndSetLookups(
		_: P["host"],
		some: readonly KeyAt<LookupChange, P>[],
		trace: StatementTrace | undefined,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		const rows = new Map<LookupChange, KeyResult<LookupRow | null>>();
		const shards = Map.groupBy(some, ({ shard }) => shard);
		await Promise.all(
			[...shards].map(async ([location, own]) => {
				const changes = own.map(({ key }) => key);
				try {
					const after = await this.perform(
						location,
						changeLookups(this.dialect, this.model, location, changes),
						this.optionsOf(location, {}, trace),
					);
					for (const [at, change] of changes.entries()) {
						rows.set(change, after[at] ?? null);
					}
				} catch (thrown) {
					if (!(thrown instanceof StorageFailure)) throw thrown;
					const error = toStorageError(thrown, location.number);
					for (const change of changes) rows.set(change, error);
				}
			}),
		);
		return some.map(({ key }) => rows.get(key) ?? null);
	}
}
