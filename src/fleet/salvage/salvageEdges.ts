import { applyEdges } from "../../graph/outbox/parts/edgeUpdates.ts";
import { readDecisive } from "../../graph/store/readUncached.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { KEPT_DAYS } from "../../graph/write/purge.ts";
import type { Id } from "../../id/ids.ts";
import { type Edge, PRESENT, REMOVED } from "../../storage/rows.ts";
import type { Conflict, Decision, Outcome } from "./conflicts.ts";
import type { LostEdge } from "./lostRows.ts";
import type { SalvageOptions } from "./salvageObjects.ts";

const EDGES = 500;
/** After that, the rows of removed edges are gone, by whose versions one would see that it is late. */
const LATE_MS = KEPT_DAYS * 86_400_000;

/**
 * Applies lost edges by version, as any delivery does: counts, caches and lists
 * follow. One to or from an object that was absent until now was removed by nobody
 * but `verify --repair`: it comes back with a version above that.
 */
export async function salvageEdges(
	{ store, isDryRun, signal }: SalvageOptions,
	lost: readonly LostEdge[],
	inserted: ReadonlySet<Id>,
	now = Date.now(),
): Promise<Outcome> {
	const conflicts: Conflict[] = [];
	let back = 0;
	for (let first = 0; first < lost.length; first += EDGES) {
		signal.throwIfAborted();
		const some = lost.slice(first, first + EDGES);
		const current = await readDecisive(store.storage, "edges", some);
		const decisions = some.map((edge, at): Decision => {
			const found = current[at] ?? null;
			return isRepaired(edge, found, inserted)
				? "bring back"
				: decide(edge, found, now);
		});
		const updates = some.flatMap(({ mapping, after }, at) => {
			if (decisions[at] !== "bring back" || after === null) return [];
			const above = (current[at]?.version ?? 0) + 1;
			const version = Math.max(after.version, above);
			const edge = { ...after, mapping: mapping.name, version };
			const { inverse } = mapping;
			// The repair removed both.
			return version === after.version ||
				inverse === null ||
				inverse.kind === "reference"
				? [edge]
				: [
						edge,
						{
							...edge,
							mapping: inverse.mapping,
							from: edge.to,
							to: edge.from,
						},
					];
		});
		if (!isDryRun && updates.length > 0) {
			await applyEdges(new WritePipeline(store), updates);
		}
		back += decisions.filter((each) => each === "bring back").length;
		for (const [at, edge] of some.entries()) {
			const found = current[at] ?? null;
			const decision = decisions[at] as Decision;
			if (isRepaired(edge, found, inserted)) continue;
			if (isConflict(edge, found, decision)) {
				conflicts.push(conflictOf(edge, found, decision));
			}
		}
	}
	return {
		lost: lost.length,
		back,
		there:
			lost.length -
			back -
			conflicts.filter(({ kept }) => kept === "current").length,
		conflicts,
	};
}

function decide(
	{ before, after, at }: LostEdge,
	current: Edge | null,
	now: number,
): Decision {
	// The row of a removed edge, deleted for good.
	if (after === null) return "there";
	if (current === null) {
		const mayBePurged = before !== null || now - at > LATE_MS;
		return mayBePurged ? "conflict" : "bring back";
	}
	if (current.version < after.version) return "bring back";
	const isSame = current.state === after.state;
	const isBase = before !== null && current.version === before.version;
	return isSame || isBase ? "there" : "conflict";
}

/** Whether it was removed because an object was absent that is back. */
function isRepaired(
	{ from, to, after }: LostEdge,
	current: Edge | null,
	inserted: ReadonlySet<Id>,
): boolean {
	const isBack = inserted.has(from) || inserted.has(to);
	return isBack && current?.state === REMOVED && after?.state === PRESENT;
}

/** Even if the lost side has the greater version, but is not what the other was before. */
function isConflict(
	{ before, after }: LostEdge,
	current: Edge | null,
	decision: Decision,
): boolean {
	if (decision !== "bring back") return decision === "conflict";
	return (
		current !== null &&
		current.version !== before?.version &&
		current.state !== after?.state
	);
}

function conflictOf(
	{ mapping, from, to, before, after, gtid, at }: LostEdge,
	current: Edge | null,
	decision: Decision,
): Conflict {
	return {
		kind: "edge",
		mapping: mapping.name,
		from,
		to,
		base: before,
		lost: after,
		current,
		kept: decision === "bring back" ? "lost" : "current",
		gtid,
		at: new Date(at).toISOString(),
	};
}
