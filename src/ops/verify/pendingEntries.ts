import { CorkboardError } from "../../errors.ts";
import { decodeEntry } from "../../graph/outbox/decodeEntry.ts";
import { deliver } from "../../graph/outbox/deliver.ts";
import type { Link, OutboxEntry } from "../../graph/outbox/entry.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { keyOfContent, type Model } from "../../model/types.ts";
import { edgeName, lookupName } from "../../storage/keys.ts";
import { isStoredNumber } from "../../storage/order.ts";
import type { PendingEntry } from "../../storage/rows.ts";
import type { Damage } from "./damage.ts";
import { outboxOf } from "./places.ts";
import type { Unchecked } from "./unchecked.ts";

/** What the pending outbox entries of all shards will change. What looks like damage there is work under way. */
export interface PendingEntries {
	readonly count: number;
	/** As in `Damage.topics`. Only these are kept in memory, not the entries. */
	readonly topics: ReadonlySet<string>;
	/** Whether every outbox was read. */
	readonly isComplete: boolean;
	/** Entries that no delivery pass delivers. They explain no damage. */
	readonly stuck: readonly StuckEntry[];
}

interface StuckEntry {
	readonly row: PendingEntry;
	/** Why it cannot be read, as a sentence; null if only its dates are wrong. */
	readonly unreadable: string | null;
}

/** Delivery is tried again after a minute at most, so an entry dated later than this is damaged. Microseconds. */
const MAX_AHEAD = 24 * 3_600 * 1_000_000;
/** Stuck entries that are kept; more are counted only as pending. */
const MAX_STUCK = 1_000;

export async function readPendingEntries(
	{ model, storage }: Pick<Store, "model" | "storage">,
	unchecked: Unchecked,
): Promise<PendingEntries> {
	const topics = new Set<string>();
	const stuck: StuckEntry[] = [];
	let count = 0;
	let isComplete = true;
	const read = (row: PendingEntry) => {
		count++;
		try {
			for (const topic of topicsOf(model, decodeEntry(model, row))) {
				topics.add(topic);
			}
			if (hasDates(row) || stuck.length >= MAX_STUCK) return;
			stuck.push({ row, unreadable: null });
		} catch (error) {
			if (stuck.length >= MAX_STUCK) return;
			stuck.push({ row, unreadable: reasonOf(error) });
		}
	};
	for (const { shards } of storage.map.outboxes) {
		try {
			for await (const rows of storage.walk("outbox", ...shards))
				rows.forEach(read);
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			unchecked.note(outboxOf(storage.map, shards[0]), error);
			isComplete = false;
		}
	}
	return { count, topics, isComplete, stuck };
}

function hasDates({ writtenAt, attempts, nextAttemptAt }: PendingEntry) {
	const latest = Date.now() * 1_000 + MAX_AHEAD;
	return (
		[writtenAt, attempts, nextAttemptAt].every(isStoredNumber) &&
		writtenAt <= latest &&
		nextAttemptAt <= latest
	);
}

function reasonOf(error: unknown): string {
	return error instanceof CorkboardError
		? error.message
		: "The outbox entry has parts that are not as the program writes them.";
}

function* topicsOf(model: Model, entry: OutboxEntry): Generator<string> {
	yield* entry.pendingObjects ?? [];
	for (const { name, key } of [
		...(entry.reservations ?? []),
		...(entry.releases ?? []),
		...(entry.lookups ?? []),
	]) {
		yield lookupTopic(name, key);
	}
	for (const { mapping, from, to } of entry.edges ?? []) {
		yield edgeTopic(mapping, from, to);
	}
	for (const link of entry.links ?? []) {
		yield linksTopic(link.mapping, link.from);
		yield* targetTopics(model, link);
	}
}

/** The natural keys of a link's target, which delivery puts on the lists of all of its type. */
function* targetTopics(
	model: Model,
	{ type, data }: Pick<Link, "type" | "data">,
): Generator<string> {
	for (const lookup of model.objects.get(type)?.lookups ?? []) {
		const key = keyOfContent(lookup, data);
		if (key !== null) yield targetTopic(lookup.name, key);
	}
}

export function edgeTopic(mapping: string, from: string, to: string): string {
	return `edge ${edgeName({ name: mapping }, { from, to })}`;
}

/** Edges of an object whose targets delivery is finding or creating. */
export function linksTopic(mapping: string, from: string): string {
	return `links ${mapping} ${from}`;
}

export function lookupTopic(name: string, key: string): string {
	return `key ${lookupName({ name, key })}`;
}

const TARGET = "target ";

/** The object with that natural key, as the target of a link. */
export function targetTopic(name: string, key: string): string {
	return `${TARGET}${lookupName({ name, key })}`;
}

/**
 * Whether a pending entry explains damage with these topics. Entries are on the
 * shard of one of the rows that disagree, which answered; only that of a link may
 * be on any shard.
 */
export function isExplained(
	{ topics, isComplete }: PendingEntries,
	own: readonly string[],
): boolean {
	return own.some(
		(topic) => topics.has(topic) || (!isComplete && topic.startsWith(TARGET)),
	);
}

/** Entries that no delivery pass can deliver. They are never deleted: nothing else says what all they promised. */
export function checkOutbox(
	store: Store,
	stuck: readonly StuckEntry[],
): readonly Damage[] {
	return stuck.map(({ row, unreadable }): Damage => {
		const { shard, local, writtenAt, attempts, nextAttemptAt } = row;
		const damage = {
			subject: `entry ${shard} ${local}`,
			table: outboxOf(store.storage.map, shard),
			row: `local_id ${local}`,
			evidence: "",
			topics: [],
		};
		const name = `entry ${local} of shard ${shard}`;
		if (unreadable !== null) {
			return {
				...damage,
				kind: "unreadable entry",
				description: `${name}: ${unreadable}`,
			};
		}
		return {
			...damage,
			kind: "entry never due",
			description: `${name}: written at ${writtenAt}, next attempt at ${nextAttemptAt} after ${attempts} attempts`,
			repair: () => deliver(new WritePipeline(store), [row]),
		};
	});
}
