import { decodeEntry } from "../../graph/outbox/decodeEntry.ts";
import type { OutboxEntry } from "../../graph/outbox/entry.ts";
import type { Store } from "../../graph/store/store.ts";
import { edgeName, lookupName } from "../../storage/keys.ts";
import type { PendingEntry, Storage } from "../../storage/storage.ts";

/** What the pending outbox entries of all shards will change. What looks like damage there is work under way. */
export interface PendingEntries {
	readonly count: number;
	/** As in `Damage.topics`. Only these are kept in memory, not the entries. */
	readonly topics: ReadonlySet<string>;
}

export async function readPendingEntries({
	model,
	storage,
}: Pick<Store, "model" | "storage">): Promise<PendingEntries> {
	const topics = new Set<string>();
	let count = 0;
	for await (const row of allEntries(storage)) {
		count++;
		let entry: OutboxEntry;
		try {
			entry = decodeEntry(model, row);
		} catch {
			// It explains no damage, because delivery skips it.
			continue;
		}
		for (const id of entry.pendingObjects ?? []) topics.add(id);
		for (const { name, key } of [
			...(entry.reservations ?? []),
			...(entry.releases ?? []),
			...(entry.lookups ?? []),
		]) {
			topics.add(lookupTopic(name, key));
		}
		for (const { mapping, from, to } of entry.edges ?? []) {
			topics.add(edgeTopic(mapping, from, to));
		}
		for (const { mapping, from } of entry.links ?? []) {
			topics.add(linksTopic(mapping, from));
		}
	}
	return { count, topics };
}

/** Also those that are not due yet. */
async function* allEntries(storage: Storage): AsyncGenerator<PendingEntry> {
	for (const shard of storage.shards) {
		for await (const rows of storage.walkOutbox(shard)) yield* rows;
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
