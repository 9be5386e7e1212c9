import type { Id } from "../../id/ids.ts";
import type { Mapping, ObjectType } from "../../model/types.ts";
import type { WantedJob } from "../store/jobQueue.ts";
import type { Store } from "../store/store.ts";

/**
 * What an object leaves behind when it is gone: deleted, or closed for good.
 * Nobody sees any of it, because visibility hides it at once; but it counts, in
 * the lists of others too. Jobs of the queue ARCHIVE_QUEUE remove it in batches
 * (docs/consistency.md "Archives"):
 *
 * - its *parts*: objects whose parent or owner it is. Each becomes deleted, and
 *   leaves a job of its own for what it leaves behind.
 * - its *edges*, in both directions, with their inverses.
 *
 * Objects that merely refer to it stay on its lists, as they still refer to it.
 */
export const ARCHIVE_QUEUE = "archive";
/** A host that is down for hours makes no job fail for good. */
export const ARCHIVE_ATTEMPTS = 30;

/** Objects of one job: their ids have to fit into an outbox entry. */
const IDS_PER_JOB = 100;
/**
 * Writes that began before the object was gone have ended by then, so that they
 * add nothing behind the job's back: a transaction waits for 10 s for its rows and
 * runs for 7 s, and its delivery takes 2 s.
 */
export const SETTLED_MS = 20_000;

/** The lists that an object of this type leaves behind, those of its parts first. */
export function listsLeftBy(
	{ domain }: Pick<Store, "domain">,
	{ mappings }: Pick<ObjectType, "mappings">,
): readonly Mapping[] {
	const partKey = (mapping: Mapping) => partReference(domain, mapping);
	return [
		...mappings.filter((mapping) => partKey(mapping) !== null),
		...mappings.filter(({ inverse }) => inverse?.kind !== "reference"),
	];
}

/** The key by which the objects of a list name its owner as their parent or owner; null for another list. */
export function partReference(
	{ visibility }: Store["domain"],
	{ inverse, to }: Mapping,
): string | null {
	if (inverse?.kind !== "reference") return null;
	const { parent, owner } = visibility.keysOf(to);
	return inverse.key === parent || inverse.key === owner ? inverse.key : null;
}

/**
 * For the list of a parent whose objects also have an owner that does not list
 * them (the comments on a pin, of their authors): the key by which they name that
 * owner. Null for another list.
 */
export function unlistedOwner(
	{ domain, model }: Pick<Store, "domain" | "model">,
	{ inverse, to }: Mapping,
): string | null {
	const { parent, owner } = domain.visibility.keysOf(to);
	if (inverse?.kind !== "reference" || inverse.key !== parent) return null;
	const isListed = [...model.mappings.values()].some(
		(other) =>
			other.to === to &&
			other.inverse?.kind === "reference" &&
			other.inverse.key === owner,
	);
	return isListed ? null : owner;
}

/** The jobs for what objects of one type leave behind. Empty if such objects leave nothing. */
export function archiveJobs(
	store: Pick<Store, "domain">,
	type: ObjectType,
	ids: readonly Id[],
	/** When they may be archived. Milliseconds since 1970. */
	fromMs: number,
): readonly WantedJob[] {
	if (listsLeftBy(store, type).length === 0) return [];
	const jobs: WantedJob[] = [];
	for (let at = 0; at < ids.length; at += IDS_PER_JOB) {
		jobs.push({
			queue: ARCHIVE_QUEUE,
			body: JSON.stringify({ ids: ids.slice(at, at + IDS_PER_JOB) }),
			dueMs: Math.max(fromMs, Date.now() + SETTLED_MS),
			// Nobody waits for it.
			priority: 3,
			allowed: ARCHIVE_ATTEMPTS,
		});
	}
	return jobs;
}
