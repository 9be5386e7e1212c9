import type { Id } from "../../id/ids.ts";
import type { StoredEntry } from "../../storage/rows.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import { andThen, isPromise } from "../../util/maybePromise.ts";
import { decodeEntry } from "./decodeEntry.ts";
import { reportDelivery } from "./diagnostics.ts";
import type { EdgeUpdate, Link, OutboxEntry } from "./entry.ts";
import { deliverInvalidations, type Invalidation } from "./invalidations.ts";
import {
	type Activation,
	type Activations,
	activateObjects,
} from "./parts/activateObjects.ts";
import { applyEdges } from "./parts/edgeUpdates.ts";
import { resolveLinks } from "./parts/links.ts";
import { RemainingParts } from "./parts/remainingParts.ts";
import {
	insertLookups,
	releaseKeys,
	resolveReservations,
} from "./parts/reservations.ts";
import type { Writer } from "./writer.ts";

/** How long a response waits for delivery; the outbox worker delivers what takes longer. Milliseconds. */
const DELIVER_NOW_MS = 2_000;

export interface Delivery {
	/** What became of the pending objects of the entries, as far as it is decided. */
	readonly activations: ReadonlyMap<Id, Activation>;
	/** Entries that stay in the outbox, each with an error. */
	readonly failures: ReadonlyMap<StoredEntry, unknown>;
	/** What is left of each of these of which some part was delivered. */
	readonly reduced: ReadonlyMap<StoredEntry, OutboxEntry>;
}

const NOTHING: Delivery = {
	activations: new Map(),
	failures: new Map(),
	reduced: new Map(),
};

/** Deliver entries and delete them, or throw. */
export async function deliver(
	writer: Writer,
	rows: readonly StoredEntry[],
): Promise<void> {
	const { failures } = await deliverEntries(writer, rows);
	for (const error of failures.values()) throw error;
}

/** Deliver the entries of a committed write if that is soon done. What fails or takes longer is left to the outbox worker and is no error of the write. */
export async function deliverNow(
	writer: Writer,
	rows: readonly StoredEntry[],
): Promise<Delivery> {
	if (rows.length === 0) return NOTHING;
	const writtenAt = Date.now() * 1_000;
	try {
		const delivering = rows.every(isDone)
			? andThen(writer.deleteOutboxEntries(rows), () => NOTHING)
			: deliverEntries(writer, rows);
		const delivery = isPromise(delivering)
			? await withDeadline(delivering, deadlineIn(DELIVER_NOW_MS))
			: delivering;
		reportDelivery(
			"write",
			rows.length,
			[...delivery.failures.values()].map((error) => ({ error, writtenAt })),
		);
		return delivery;
	} catch (late) {
		reportDelivery(
			"write",
			rows.length,
			rows.map(() => ({ error: late, writtenAt })),
		);
		return NOTHING;
	}
}

/** Whether nothing is left to do. */
function isDone({ entry }: StoredEntry): boolean {
	return entry !== null && Object.keys(entry).length === 0;
}

/**
 * Deliver many entries in as few calls as one, and delete those that are
 * delivered. A failure, also of reading a row, keeps the parts of entries that it
 * concerns and no others.
 */
export async function deliverEntries(
	writer: Writer,
	rows: readonly StoredEntry[],
): Promise<Delivery> {
	const began = Date.now();
	const decoded: DecodedEntry[] = [];
	const unreadable = new Map<StoredEntry, unknown>();
	for (const row of rows) {
		try {
			decoded.push({ row, entry: decodeEntry(writer.store.model, row) });
		} catch (error) {
			unreadable.set(row, error);
		}
	}
	// Natural keys and jobs are on other hosts than edges: entries of edges alone need not wait for those hosts.
	const groups = Map.groupBy(
		decoded,
		({ entry }) => `${namesKeys(entry)} ${entry.jobs !== undefined}`,
	);
	const deliveries = await Promise.all(
		[...groups.values()].map((group) =>
			new GroupDelivery(writer, group, began).run(),
		),
	);
	return {
		activations: new Map(
			deliveries.flatMap(({ activations }) => [...activations]),
		),
		failures: new Map([
			...unreadable,
			...deliveries.flatMap(({ failures }) => [...failures]),
		]),
		reduced: new Map(deliveries.flatMap(({ reduced }) => [...reduced])),
	};
}

function namesKeys(entry: OutboxEntry): boolean {
	const { pendingObjects, reservations, releases, lookups, links } = entry;
	return [pendingObjects, reservations, releases, lookups, links].some(
		(part) => part !== undefined,
	);
}

interface DecodedEntry {
	readonly row: StoredEntry;
	readonly entry: OutboxEntry;
}

/** One item of a part of an entry, such as an edge. */
interface Item<T> {
	readonly row: StoredEntry;
	readonly value: T;
	/** Leaves it in the entry. */
	readonly keep: (error?: unknown) => void;
}

/** The delivery of entries that are delivered together. Its steps run one after the other. */
class GroupDelivery {
	readonly #writer: Writer;
	readonly #group: readonly DecodedEntry[];
	/** Milliseconds since 1970. */
	readonly #began: number;
	readonly #parts = new RemainingParts();
	/** Entries with objects that wait: nothing leads to an object before it is active. */
	readonly #undecided = new Set<StoredEntry>();
	/** Entries with objects that were rejected: their creation did not happen. */
	readonly #rejected = new Set<StoredEntry>();
	#activations: ReadonlyMap<Id, Activation> = new Map();

	constructor(writer: Writer, group: readonly DecodedEntry[], began: number) {
		this.#writer = writer;
		this.#group = group;
		this.#began = began;
	}

	async run(): Promise<Delivery> {
		const changed = await this.#activate();
		await this.#release();
		await this.#insertLookups();
		await this.#invalidate(changed);
		const ofLinks = await this.#applyEdges();
		const deferred = await this.#enqueueJobs();
		await this.#deleteDelivered(deferred, ofLinks);
		return {
			activations: this.#activations,
			failures: this.#parts.failures(),
			reduced: this.#parts.reduced(),
		};
	}

	/** Activates or rejects objects that wait for their natural keys. Returns what caches may have of those that were decided already: a cache may not have acknowledged that. */
	async #activate(): Promise<readonly Item<Invalidation>[]> {
		const pending = this.#itemsOf("pendingObjects");
		const activated: Activations | null = await step(pending, (ids) =>
			activateObjects(this.#writer, ids),
		);
		for (const { row, value, keep } of pending) {
			if (activated !== null && !activated.failures.has(value)) continue;
			this.#undecided.add(row);
			if (activated !== null) keep(activated.failures.get(value));
		}
		if (activated === null) return [];
		this.#activations = activated.activations;
		for (const { row, value } of pending) {
			if (this.#isRejected(value)) this.#rejected.add(row);
		}
		return pending
			.filter(({ row }) => !this.#undecided.has(row))
			.filter(({ value }) => activated.found.has(value))
			.map(({ row, value: object }) => ({
				row,
				value: { object },
				keep: (error?: unknown) =>
					this.#parts.keepInvalidation(row, "objects", object, error),
			}));
	}

	/** Releases reservations that their objects do not hold, and those that nobody does. */
	async #release(): Promise<void> {
		const reservations = this.#itemsOf("reservations");
		const unresolved = await step(reservations, (all) =>
			resolveReservations(this.#writer, all),
		);
		for (const { value, keep } of reservations) {
			const error = unresolved?.get(value);
			if (error !== undefined) keep(error);
		}
		await stepForEach(this.#itemsOf("releases"), (all) =>
			releaseKeys(this.#writer, all),
		);
	}

	/** Inserts the keys of active objects only. A key that leads elsewhere was inserted by another import, whose object has it. */
	async #insertLookups(): Promise<void> {
		const lookups = this.#itemsOf("lookups")
			.filter(({ value }) => !this.#isRejected(value.id))
			.filter((item) => this.#isDecided(item));
		await stepForEach(lookups, (all) => insertLookups(this.#writer, all));
	}

	/** Deletes what changed from shared caches. */
	async #invalidate(changed: readonly Item<Invalidation>[]): Promise<void> {
		const invalidations = [
			...invalidationsOf(this.#group, this.#parts),
			...changed,
		];
		const unacknowledged = await step(invalidations, (all) =>
			deliverInvalidations(this.#writer, all),
		);
		for (const { value, keep } of invalidations) {
			if (unacknowledged?.has(value)) keep(unacknowledged.get(value));
		}
	}

	/** Finds or creates the objects of links, then applies edges by version, shard by shard. Returns entries of others that are delivered by that. */
	async #applyEdges(): Promise<readonly StoredEntry[]> {
		/** An edge is of the link or edge that it comes from. */
		const edges = new Map<EdgeUpdate, Item<EdgeUpdate> | Item<Link>>();
		const links = this.#itemsOf("links")
			.filter(({ value }) => !this.#isRejected(value.from))
			.filter((item) => this.#isDecided(item));
		const resolved = await step(links, (all) =>
			resolveLinks(this.#writer, all),
		);
		for (const item of links) {
			const error = resolved?.failures.get(item.value);
			if (error !== undefined) item.keep(error);
			for (const edge of resolved?.edges.get(item.value) ?? []) {
				edges.set(edge, item);
			}
		}
		for (const item of this.#itemsOf("edges")) {
			const { from, to } = item.value;
			if (this.#isRejected(from) || this.#isRejected(to)) continue;
			if (this.#isDecided(item)) edges.set(item.value, item);
		}
		const kept = new Set<Item<unknown>>();
		const keepAll = (updates: readonly EdgeUpdate[], error: unknown) => {
			for (const update of updates) {
				const item = edges.get(update) as Item<unknown>;
				if (!kept.has(item)) item.keep(error);
				kept.add(item);
			}
		};
		await applyEdges(this.#writer, [...edges.keys()], keepAll, this.#began);
		return resolved?.delivered ?? [];
	}

	/** Returns the entries whose jobs are enqueued later, with whom they are deleted. */
	async #enqueueJobs(): Promise<ReadonlySet<StoredEntry>> {
		const { store, defersJobs } = this.#writer;
		const jobs = this.#itemsOf("jobs")
			.filter(({ row }) => !this.#rejected.has(row))
			.filter((item) => this.#isDecided(item));
		const deferred = new Set<StoredEntry>();
		if (!defersJobs || store.jobs === null) {
			await stepForEach(jobs, (all) => this.#writer.enqueueJobs(all));
			return deferred;
		}
		// No response waits for them. If something else is left of an entry, the outbox worker enqueues them with that.
		const byRow = Map.groupBy(jobs, ({ row }) => row);
		for (const [row, own] of byRow) {
			if (this.#parts.has(row)) for (const { keep } of own) keep();
			else deferred.add(row);
		}
		store.jobs.deliveries.add(
			[...deferred].map((row) => ({
				shard: row.shard,
				local: row.local,
				jobs: (byRow.get(row) ?? []).map(({ value }) => value),
			})),
		);
		return deferred;
	}

	async #deleteDelivered(
		deferred: ReadonlySet<StoredEntry>,
		ofLinks: readonly StoredEntry[],
	): Promise<void> {
		const delivered = this.#group
			.map(({ row }) => row)
			.filter((row) => !this.#parts.has(row) && !deferred.has(row));
		const done = [...delivered, ...ofLinks];
		try {
			if (done.length > 0) await this.#writer.deleteOutboxEntries(done);
		} catch (error) {
			for (const row of delivered) this.#parts.keepRow(row, error);
		}
	}

	#itemsOf<Part extends Exclude<keyof OutboxEntry, "invalidations">>(
		part: Part,
	) {
		type Value = NonNullable<OutboxEntry[Part]>[number];
		return this.#group.flatMap(({ row, entry }) =>
			((entry[part] ?? []) as readonly Value[]).map(
				(value): Item<Value> => ({
					row,
					value,
					keep: (error) => this.#parts.keep(row, part, value, error),
				}),
			),
		);
	}

	#isRejected(id: Id): boolean {
		return this.#activations.get(id)?.status === "rejected";
	}

	/** False for an item that waits for a pending object of its entry, which keeps it. */
	#isDecided({ row, keep }: Item<unknown>): boolean {
		if (!this.#undecided.has(row)) return true;
		keep();
		return false;
	}
}

/** Run one step for all items; if the step as a whole fails, all are kept. */
async function step<T, Result>(
	items: readonly Item<T>[],
	run: (values: readonly T[]) => Promise<Result>,
): Promise<Result | null> {
	if (items.length === 0) return null;
	try {
		return await run(items.map(({ value }) => value));
	} catch (error) {
		for (const { keep } of items) keep(error);
		return null;
	}
}

/** The same, if each item has a result of its own. */
async function stepForEach<T>(
	items: readonly Item<T>[],
	run: (values: readonly T[]) => Promise<readonly unknown[]>,
): Promise<void> {
	const results = await step(items, run);
	for (const [at, { keep }] of items.entries()) {
		const result = results?.[at];
		if (result instanceof Error) keep(result);
	}
}

function invalidationsOf(
	group: readonly DecodedEntry[],
	parts: RemainingParts,
): readonly Item<Invalidation>[] {
	return group.flatMap(({ row, entry: { invalidations } }) => [
		...(invalidations?.objects ?? []).map((object) => ({
			row,
			value: { object },
			keep: (error?: unknown) =>
				parts.keepInvalidation(row, "objects", object, error),
		})),
		...(invalidations?.lists ?? []).map((list) => ({
			row,
			value: { list },
			keep: (error?: unknown) =>
				parts.keepInvalidation(row, "lists", list, error),
		})),
	]);
}
