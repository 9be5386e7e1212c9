import { CorkboardError } from "../../errors.ts";
import {
	type About,
	type Current,
	forgetOldVersions,
	type HistoryEntry,
	historyEntry,
	publication,
	readCurrent,
	readVersion,
} from "../../topology/history.ts";
import {
	historyPath,
	type StoreChange,
	type TopologyStore,
} from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";

/** A map to publish; its version is the one after the current one, whatever it says itself. */
export type Edit = (current: Topology | null) => Omit<Topology, "version">;

export interface Publishing extends About {
	/** Made again on what others have published meanwhile. */
	readonly edit: Edit;
	/** Refused if the store has another version than this one. Default: the newest. */
	readonly from?: number;
	/** Whether everything is done but the write: what would be refused is refused. */
	readonly isDryRun?: boolean;
	/** How often it is tried while others publish at the same time. */
	readonly tries?: number;
	/** Writes the changes together with others. Throws CONFLICT, with `details.path`, as the store does. Default: these alone. */
	readonly write?: (
		changes: readonly StoreChange[],
		topology: Topology,
	) => Promise<void>;
}

export interface Published {
	/** Null: there was none. */
	readonly before: Topology | null;
	/** As it is now, or would be after a dry run. */
	readonly topology: Topology;
	/** False: the edit changed nothing, so nothing is published. */
	readonly isNew: boolean;
}

const TRIES = 100;

/**
 * Publishes an edit of the current version as the next one: the one way in which
 * a map changes. Throws BAD_TOPOLOGY if a running fleet may not switch to it,
 * CONFLICT if the version is not `from` or others always publish first, and UNAVAILABLE.
 */
export async function publish(
	store: TopologyStore,
	{ edit, from, isDryRun, tries = TRIES, write, ...about }: Publishing,
): Promise<Published> {
	for (let nth = 1; ; nth++) {
		const current = await readCurrent(store);
		requireFrom(store, current, from);
		const before = current?.topology ?? null;
		const { topology, entry, changes } = publication(
			current,
			edit(before),
			about,
		);
		// An operation publishes in any case: its record says which version.
		if (write === undefined && before !== null && isSame(before, topology)) {
			return { before, topology: before, isNew: false };
		}
		const published = { before, topology, isNew: true };
		if (isDryRun) return published;
		try {
			if (write === undefined) {
				const all = [...(await unkept(store, current)), ...changes];
				await writeEntry(store, all, entry);
			} else await write(changes, topology);
			return published;
		} catch (thrown) {
			const isOvertaken =
				thrown instanceof CorkboardError &&
				thrown.code === "CONFLICT" &&
				/^(?:topology$|history\/)/.test(String(thrown.details.path));
			if (!isOvertaken || nth === tries) throw thrown;
			await requireOwnHistory(store, topology.version, thrown);
		}
	}
}

/** The topology that there has to be. Throws BAD_TOPOLOGY. */
export async function requireCurrent(
	store: Pick<TopologyStore, "name" | "get">,
): Promise<Current> {
	const current = await readCurrent(store);
	if (current !== null) return current;
	throw noTopology();
}

/** An edit of a map that there has to be. It throws BAD_TOPOLOGY if there is none. */
export function existing(
	edit: (current: Topology) => Omit<Topology, "version">,
): Edit {
	return (current) => {
		if (current !== null) return edit(current);
		throw noTopology();
	};
}

function noTopology(): CorkboardError {
	return new CorkboardError(
		"BAD_TOPOLOGY",
		"There is no topology yet. Put one there with map publish.",
	);
}

function requireFrom(
	{ name }: TopologyStore,
	current: Current | null,
	from: number | undefined,
): void {
	const version = current?.topology.version;
	// What is published first was made from nothing.
	if (from === undefined || version === undefined || from === version) return;
	if (from > version) {
		throw new CorkboardError(
			"CONFLICT",
			`The file has version ${from}, but ${name} has version ${version} now. If it was made from that, keep version ${version} in it: publishing raises it.`,
		);
	}
	throw new CorkboardError(
		"CONFLICT",
		`This was made from version ${from}, but ${name} has version ${version} now. Look at the difference (map diff), and make it from that one.`,
	);
}

/** A version that was edited by hand comes into the history when another takes its place, so that there is a way back. */
async function unkept(
	store: TopologyStore,
	current: Current | null,
): Promise<readonly StoreChange[]> {
	if (current === null) return [];
	const path = historyPath(current.topology.version);
	if ((await store.get(path)) !== null) return [];
	const entry = historyEntry(current.topology, {
		by: "unknown",
		why: "edited by hand",
	});
	return [{ path, revision: null, text: JSON.stringify(entry) }];
}

async function writeEntry(
	store: TopologyStore,
	changes: readonly StoreChange[],
	entry: HistoryEntry,
): Promise<void> {
	try {
		await store.write(changes);
	} catch (thrown) {
		const isUnknown =
			thrown instanceof CorkboardError && thrown.details.isUnknown === true;
		if (!isUnknown || !(await isPublished(store, entry))) throw thrown;
	}
	await forgetOldVersions(store).catch(() => {});
}

/** After a lost connection: whether the write was carried out. */
async function isPublished(
	store: TopologyStore,
	{ topology: { version }, id }: HistoryEntry,
): Promise<boolean> {
	return (await readVersion(store, version))?.id === id;
}

/**
 * A conflict that another try would meet again: the history has the next version,
 * and the topology is still the one before, as after a hand edit that set the
 * version back. Throws CONFLICT then.
 */
async function requireOwnHistory(
	store: TopologyStore,
	next: number,
	cause: CorkboardError,
): Promise<void> {
	const isThere = (await store.get(historyPath(next))) !== null;
	const current = await readCurrent(store);
	if (!isThere || (current?.topology.version ?? 0) >= next) return;
	throw new CorkboardError(
		"CONFLICT",
		`${store.name} has version ${next - 1}, but its history has version ${next} already: the topology was set back by hand. Publish the newest version of the history first.`,
		{ cause },
	);
}

function isSame(one: Topology, other: Topology): boolean {
	const map = (topology: Topology) =>
		JSON.stringify({ ...topology, version: 0 });
	return map(one) === map(other);
}
