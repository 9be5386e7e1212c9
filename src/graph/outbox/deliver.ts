import type { Id } from "../../id/ids.ts";
import type { StoredEntry } from "../../storage/rows.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
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
		const delivery = await withDeadline(
			rows.every(isDone)
				? writer.deleteOutboxEntries(rows).then(() => NOTHING)
				: deliverEntries(writer, rows),
			deadlineIn(DELIVER_NOW_MS),
		);
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
		[...groups.values()].map((group) => deliverGroup(writer, group, began)),
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

async function deliverGroup(
	writer: Writer,
	group: readonly DecodedEntry[],
	/** Milliseconds since 1970. */
	began: number,
): Promise<Delivery> {
	const parts = new RemainingParts();
	const itemsOf = <Part extends Exclude<keyof OutboxEntry, "invalidations">>(
		part: Part,
	) => {
		type Value = NonNullable<OutboxEntry[Part]>[number];
		return group.flatMap(({ row, entry }) =>
			((entry[part] ?? []) as readonly Value[]).map(
				(value): Item<Value> => ({
					row,
					value,
					keep: (error) => parts.keep(row, part, value, error),
				}),
			),
		);
	};

	// 1. Activate or reject objects that wait for their natural keys.
	const pending = itemsOf("pendingObjects");
	const activated: Activations | null = await step(pending, (ids) =>
		activateObjects(writer, ids),
	);
	/** Nothing leads to an object before it is active. */
	const undecided = new Set<StoredEntry>();
	for (const { row, value, keep } of pending) {
		if (activated !== null && !activated.failures.has(value)) continue;
		undecided.add(row);
		if (activated !== null) keep(activated.failures.get(value));
	}
	const activations = activated?.activations ?? new Map<Id, Activation>();
	const isRejected = (id: Id) => activations.get(id)?.status === "rejected";
	const rejected = new Set(
		pending.filter(({ value }) => isRejected(value)).map(({ row }) => row),
	);

	// 2. Release reservations that their objects do not hold, and those that nobody does.
	const reservations = itemsOf("reservations");
	const unresolved = await step(reservations, (all) =>
		resolveReservations(writer, all),
	);
	for (const { value, keep } of reservations) {
		const error = unresolved?.get(value);
		if (error !== undefined) keep(error);
	}
	const releases = itemsOf("releases");
	const released = await step(releases, (all) => releaseKeys(writer, all));
	for (const [at, { keep }] of releases.entries()) {
		const result = released?.[at];
		if (result instanceof Error) keep(result);
	}

	// 3. Insert lookups, of active objects only. A key that leads elsewhere was inserted by another import, whose object has it.
	const lookups = itemsOf("lookups")
		.filter(({ value }) => !isRejected(value.id))
		.filter((item) => isDecided(item, undecided));
	const inserted = await step(lookups, (all) => insertLookups(writer, all));
	for (const [at, { keep }] of lookups.entries()) {
		const result = inserted?.[at];
		if (result instanceof Error) keep(result);
	}

	// 4. Delete what changed from shared caches. An object that was decided
	// already may have been so by a delivery that a cache did not acknowledge:
	// only that is left of it then.
	const invalidations = [
		...invalidationsOf(group, parts),
		...pending
			.filter(({ row }) => !undecided.has(row))
			.filter(({ value }) => activated?.found.has(value))
			.map(({ row, value: object }) => ({
				row,
				value: { object },
				keep: (error?: unknown) =>
					parts.keepInvalidation(row, "objects", object, error),
			})),
	];
	const unacknowledged = await step(invalidations, (all) =>
		deliverInvalidations(writer, all),
	);
	for (const { value, keep } of invalidations) {
		if (unacknowledged?.has(value)) keep(unacknowledged.get(value));
	}

	// 5. Find or create the objects of links. An edge is of the link or edge that it comes from.
	const edges = new Map<EdgeUpdate, Item<EdgeUpdate> | Item<Link>>();
	const links = itemsOf("links")
		.filter(({ value }) => !isRejected(value.from))
		.filter((item) => isDecided(item, undecided));
	const resolved = await step(links, (all) => resolveLinks(writer, all));
	for (const item of links) {
		const error = resolved?.failures.get(item.value);
		if (error !== undefined) item.keep(error);
		for (const edge of resolved?.edges.get(item.value) ?? []) {
			edges.set(edge, item);
		}
	}

	// 6. Apply edges by version, shard by shard.
	for (const item of itemsOf("edges")) {
		const { from, to } = item.value;
		if (isRejected(from) || isRejected(to)) continue;
		if (isDecided(item, undecided)) edges.set(item.value, item);
	}
	const kept = new Set<Item<unknown>>();
	const keepAll = (updates: readonly EdgeUpdate[], error: unknown) => {
		for (const update of updates) {
			const item = edges.get(update) as Item<unknown>;
			if (!kept.has(item)) item.keep(error);
			kept.add(item);
		}
	};
	await applyEdges(writer, [...edges.keys()], keepAll, began);

	// 7. Enqueue jobs, except those of objects that were rejected: their creation did not happen.
	const jobs = itemsOf("jobs")
		.filter(({ row }) => !rejected.has(row))
		.filter((item) => isDecided(item, undecided));
	const deferred = new Set<StoredEntry>();
	if (writer.defersJobs && writer.store.jobs !== null) {
		// No response waits for them. Where something else is left of an entry, the outbox worker enqueues them with that.
		const byRow = Map.groupBy(jobs, ({ row }) => row);
		for (const [row, own] of byRow) {
			if (parts.has(row)) for (const { keep } of own) keep();
			else deferred.add(row);
		}
		writer.store.jobs.deliveries.add(
			[...deferred].map((row) => ({
				shard: row.shard,
				local: row.local,
				jobs: (byRow.get(row) ?? []).map(({ value }) => value),
			})),
		);
	} else {
		const enqueued = await step(jobs, (all) => writer.enqueueJobs(all));
		for (const [at, { keep }] of jobs.entries()) {
			const result = enqueued?.[at];
			if (result instanceof Error) keep(result);
		}
	}

	// 8. Delete the entries that are delivered.
	const delivered = group
		.map(({ row }) => row)
		.filter((row) => !parts.has(row) && !deferred.has(row));
	const done = [...delivered, ...(resolved?.delivered ?? [])];
	try {
		if (done.length > 0) await writer.deleteOutboxEntries(done);
	} catch (error) {
		for (const row of delivered) parts.keepRow(row, error);
	}
	return { activations, failures: parts.failures(), reduced: parts.reduced() };
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

/** False for an item that waits for a pending object of its entry, which keeps it. */
function isDecided(
	{ row, keep }: Item<unknown>,
	undecided: ReadonlySet<StoredEntry>,
): boolean {
	if (!undecided.has(row)) return true;
	keep();
	return false;
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
