import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { CorkboardError } from "../errors.ts";
import { checkTopology } from "./check.ts";
import { checkTopologyChange } from "./checkChange.ts";
import { parseTopology } from "./parseTopology.ts";
import {
	historyPath,
	type StoreChange,
	TOPOLOGY,
	type TopologyStore,
} from "./store.ts";
import type { Topology } from "./types.ts";

/** A version as it was published. */
export interface HistoryEntry {
	readonly topology: Topology;
	/** `anna@ops1` */
	readonly by: string;
	/** ISO 8601, in UTC. */
	readonly at: string;
	readonly why: string;
	/** The operation that published it; null: a person did. */
	readonly operation: string | null;
	/** Distinguishes one publisher's version from another's of the same number. */
	readonly id: string;
}

/** What is published beside the map. */
export interface About {
	readonly why: string;
	readonly operation?: string | null;
	/** Default: this process's user and host. */
	readonly by?: string;
}

/** The version in use, with what a change of it has to expect. */
export interface Current {
	readonly topology: Topology;
	/** Null: there is none yet. */
	readonly revision: string;
}

/** Older versions are removed. */
const KEPT_VERSIONS = 1_000;

/** The topology of a store; null if there is none yet. Throws BAD_TOPOLOGY if it is not valid, and UNAVAILABLE. */
export async function readCurrent(
	store: Pick<TopologyStore, "name" | "get">,
): Promise<Current | null> {
	const found = await store.get(TOPOLOGY);
	if (found === null) return null;
	const topology = parseTopology(store.name, found.text);
	return { topology, revision: found.revision };
}

/**
 * The changes that publish a map as the version after the current one, to be
 * written together with others in one `write`. Throws BAD_TOPOLOGY if a
 * running fleet may not switch to it.
 */
export function publication(
	current: Current | null,
	map: Omit<Topology, "version">,
	about: About,
): {
	readonly topology: Topology;
	readonly entry: HistoryEntry;
	readonly changes: readonly StoreChange[];
} {
	const version = (current?.topology.version ?? 0) + 1;
	const topology = checkTopology({ ...map, version });
	if (current !== null) checkTopologyChange(current.topology, topology);
	const entry = historyEntry(topology, about);
	const text = `${JSON.stringify(topology, null, "\t")}\n`;
	return {
		topology,
		entry,
		changes: [
			{
				path: historyPath(version),
				revision: null,
				text: JSON.stringify(entry),
			},
			{ path: TOPOLOGY, revision: current?.revision ?? null, text },
		],
	};
}

export function historyEntry(topology: Topology, about: About): HistoryEntry {
	return {
		topology,
		by: about.by ?? operator(),
		at: new Date().toISOString(),
		why: about.why,
		operation: about.operation ?? null,
		id: randomUUID(),
	};
}

/** Who does it: `anna@ops1`. */
export function operator(): string {
	let user = "unknown";
	try {
		user = userInfo().username;
	} catch {
		// A container's user may have no name.
	}
	return `${user}@${hostname()}`;
}

/** A published version; null if it is not kept, or was never published but edited by hand. */
export async function readVersion(
	store: Pick<TopologyStore, "name" | "get">,
	version: number,
): Promise<HistoryEntry | null> {
	const path = historyPath(version);
	const found = await store.get(path);
	if (found === null) return null;
	const entry = JSON.parse(found.text) as HistoryEntry;
	return { ...entry, topology: checkTopology(entry.topology) };
}

/** The numbers of published versions that are kept, newest first. */
export async function listVersions(
	store: Pick<TopologyStore, "list">,
): Promise<readonly number[]> {
	const names = await store.list("history");
	return names.map(Number).toSorted((a, b) => b - a);
}

/** Removes versions beyond those that are kept. */
export async function forgetOldVersions(
	store: Pick<TopologyStore, "get" | "list" | "write">,
): Promise<void> {
	const old = (await listVersions(store)).slice(KEPT_VERSIONS);
	for (const version of old) {
		const path = historyPath(version);
		const found = await store.get(path);
		if (found === null) continue;
		await store.write([{ path, revision: found.revision, text: null }]);
	}
}

/** A version that has to be there. */
export async function requireVersion(
	store: Pick<TopologyStore, "name" | "get" | "list">,
	version: number,
): Promise<HistoryEntry> {
	const entry = await readVersion(store, version);
	if (entry !== null) return entry;
	const known = await listVersions(store);
	const kept =
		known.length === 0
			? "none was published yet"
			: `versions ${known.at(-1)} to ${known[0]} are kept`;
	throw new CorkboardError(
		"NOT_FOUND",
		`${store.name} has no version ${version} in its history: ${kept}.`,
	);
}
