import type { Id } from "../../id/ids.ts";
import type { StoredEntry } from "../../storage/storage.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import {
	type Activation,
	type Activations,
	activateObjects,
} from "./activateObjects.ts";
import { decodeEntry } from "./decodeEntry.ts";
import { applyEdges } from "./edgeUpdates.ts";
import type { EdgeUpdate, OutboxEntry } from "./entry.ts";
import type { HostBreakers } from "./hostBreakers.ts";
import { deliverInvalidations } from "./invalidations.ts";
import { resolveLinks } from "./links.ts";
import {
	insertLookups,
	releaseKeys,
	resolveReservations,
} from "./reservations.ts";
import type { Writer } from "./writer.ts";

/** How long a response waits for delivery; the outbox worker delivers what takes longer. Milliseconds. */
const DELIVER_NOW_MS = 2_000;

export interface Delivery {
	/** What became of the pending objects of the entries, as far as it is decided. */
	readonly activations: ReadonlyMap<Id, Activation>;
	/** Entries that stay in the outbox, each with the first error. */
	readonly failures: ReadonlyMap<StoredEntry, unknown>;
}

const NOTHING: Delivery = { activations: new Map(), failures: new Map() };

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
	try {
		return await withDeadline(
			deliverEntries(writer, rows),
			deadlineIn(DELIVER_NOW_MS),
		);
	} catch {
		return NOTHING;
	}
}

/**
 * Deliver many entries in as few calls as one, and delete those that are
 * delivered. A failure, also of reading a row, keeps the entries that it
 * concerns and no others.
 */
export async function deliverEntries(
	writer: Writer,
	rows: readonly StoredEntry[],
	breakers?: HostBreakers,
): Promise<Delivery> {
	const decoded: Decoded[] = [];
	const unreadable = new Map<StoredEntry, unknown>();
	for (const row of rows) {
		try {
			decoded.push({ row, entry: decodeEntry(writer.store.model, row) });
		} catch (error) {
			unreadable.set(row, error);
		}
	}
	// Natural keys are on other hosts than edges: entries of edges alone need not wait for those hosts.
	const groups = Map.groupBy(decoded, ({ entry }) => namesKeys(entry));
	const deliveries = await Promise.all(
		[...groups.values()].map((group) => deliverGroup(writer, group, breakers)),
	);
	return {
		activations: new Map(
			deliveries.flatMap(({ activations }) => [...activations]),
		),
		failures: new Map([
			...unreadable,
			...deliveries.flatMap(({ failures }) => [...failures]),
		]),
	};
}

function namesKeys(entry: OutboxEntry): boolean {
	const { pendingObjects, reservations, releases, lookups, links } = entry;
	return [pendingObjects, reservations, releases, lookups, links].some(
		(part) => part !== undefined,
	);
}

interface Decoded {
	readonly row: StoredEntry;
	readonly entry: OutboxEntry;
}

async function deliverGroup(
	writer: Writer,
	group: readonly Decoded[],
	breakers: HostBreakers | undefined,
): Promise<Delivery> {
	const failures = new Map<StoredEntry, unknown>();
	const fail = (row: StoredEntry, error: unknown) => {
		if (!failures.has(row)) failures.set(row, error);
	};
	const each = <Part>(
		part: (entry: OutboxEntry) => readonly Part[] = () => [],
	) =>
		group.flatMap(({ row, entry }) =>
			part(entry).map((one) => [one, row] as const),
		);
	/** Run one step for all entries; if the step as a whole fails, so do the entries that take part in it. */
	const step = async <Part, Result>(
		parts: readonly (readonly [Part, StoredEntry])[],
		run: (parts: readonly Part[]) => Promise<Result>,
	): Promise<Result | null> => {
		if (parts.length === 0) return null;
		try {
			return await run(parts.map(([part]) => part));
		} catch (error) {
			for (const [, row] of parts) fail(row, error);
			return null;
		}
	};

	// 1. Activate or reject objects that wait for their natural keys.
	const pending = each(({ pendingObjects = [] }) => pendingObjects);
	const activated: Activations | null = await step(pending, (ids) =>
		activateObjects(writer, ids),
	);
	for (const [id, row] of pending) {
		if (activated?.failures.has(id)) fail(row, activated.failures.get(id));
	}
	const activations = activated?.activations ?? new Map<Id, Activation>();
	const isRejected = (id: Id) => activations.get(id)?.status === "rejected";
	/** Nothing leads to an object before it is active. */
	const undecided = new Set(failures.keys());

	// 2. Release reservations that their objects do not hold, and those that nobody does.
	const reservations = each(({ reservations = [] }) => reservations);
	const unresolved = await step(reservations, (all) =>
		resolveReservations(writer, all),
	);
	for (const [reservation, row] of reservations) {
		const error = unresolved?.get(reservation);
		if (error !== undefined) fail(row, error);
	}
	const releases = each(({ releases = [] }) => releases);
	const released = await step(releases, (all) => releaseKeys(writer, all));
	for (const [at, [, row]] of releases.entries()) {
		const result = released?.[at];
		if (result instanceof Error) fail(row, result);
	}

	// 3. Insert lookups. A key that leads elsewhere was inserted by another import, whose object has it.
	const lookups = each(({ lookups = [] }) =>
		lookups.filter(({ id }) => !isRejected(id)),
	);
	const inserted = await step(lookups, (all) => insertLookups(writer, all));
	for (const [at, [, row]] of lookups.entries()) {
		const result = inserted?.[at];
		if (result instanceof Error) fail(row, result);
	}

	// 4. Delete what changed from shared caches.
	await step(
		each(({ invalidations }) =>
			invalidations === undefined ? [] : [invalidations],
		),
		(all) => deliverInvalidations(writer, all),
	);

	// 5. Find or create the objects of links.
	const links = each(({ links = [] }) => links).filter(
		([{ from }, row]) => !undecided.has(row) && !isRejected(from),
	);
	const resolved = await step(links, (all) => resolveLinks(writer, all));
	const edges = new Map<EdgeUpdate, StoredEntry>();
	for (const [link, row] of links) {
		const error = resolved?.failures.get(link);
		if (error !== undefined) fail(row, error);
		for (const edge of resolved?.edges.get(link) ?? []) edges.set(edge, row);
	}

	// 6. Apply edges by version, shard by shard.
	for (const [edge, row] of each(({ edges = [] }) => edges)) {
		if (undecided.has(row) || isRejected(edge.from) || isRejected(edge.to)) {
			continue;
		}
		edges.set(edge, row);
	}
	await applyEdges(
		writer,
		[...edges.keys()],
		(updates, error) => {
			for (const update of updates)
				fail(edges.get(update) as StoredEntry, error);
		},
		breakers,
	);

	// 7. Delete the entries that are delivered.
	const delivered = group.flatMap(({ row }) =>
		failures.has(row) ? [] : [row],
	);
	const done = [...delivered, ...(resolved?.delivered ?? [])];
	try {
		if (done.length > 0) await writer.deleteOutboxEntries(done);
	} catch (error) {
		for (const row of delivered) fail(row, error);
	}
	return { activations, failures };
}
