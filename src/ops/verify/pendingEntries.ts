import { decodeEntry } from "../../graph/outbox/entry.ts";
import { edgeName, lookupName } from "../../storage/keys.ts";
import type { Storage } from "../../storage/storage.ts";

/** What is owed, as far as it may explain what looks like damage. */
export interface PendingEntries {
	readonly count: number;
	/** Edges, ids and keys, spelled as in `Damage.about`. */
	readonly keys: ReadonlySet<string>;
}

/** Debts of each shard that are looked at; a graph that is swept has far fewer. */
const MOST = 1_000;

export async function readPendingEntries(
	storage: Storage,
): Promise<PendingEntries> {
	const about = new Set<string>();
	const rows = await storage.pendingEntries({ olderThanMs: 0, limit: MOST });
	for (const row of rows) {
		const debt = decodeEntry(row);
		for (const id of debt.pendingObjects ?? []) about.add(id);
		for (const { name, key } of [
			...(debt.reservations ?? []),
			...(debt.lookups ?? []),
		]) {
			about.add(lookupTopic(name, key));
		}
		for (const { mapping, from, to } of debt.edges ?? []) {
			about.add(edgeTopic(mapping, from, to));
		}
		for (const { mapping, from } of debt.links ?? []) {
			about.add(linksTopic(mapping, from));
		}
	}
	return { count: rows.length, keys: about };
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
