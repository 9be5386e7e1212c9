import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { LIMIT_MS, requireVersion } from "../../freshness/cacheAgreement.ts";
import {
	CACHE_PARTS,
	type CachePart,
	cacheServerId,
	isSame,
	NO_SERVERS,
	withChanges,
} from "../../topology/caches.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type {
	CacheServers,
	FleetCaches,
	Topology,
} from "../../topology/types.ts";
import { type Agreement, agreed, type BarrierOptions } from "./barrier.ts";
import {
	existing,
	type Published,
	publish,
	requireCurrent,
} from "./publish.ts";

/** The URLs of the servers that are to be. */
type WantedCaches = Pick<CacheServers, CachePart>;

interface SetCaches extends Pick<BarrierOptions, "byTimeMs"> {
	readonly store: TopologyStore;
	readonly wanted: WantedCaches;
	readonly why: string;
	/** How long to wait for the processes of the fleet, each time. Milliseconds. */
	readonly agreeMs: number;
	/** Called after each step, with what was done. */
	readonly onStep?: (line: string) => void | Promise<void>;
}

interface CachesSet {
	/** The version that names the servers alone. */
	readonly version: number;
	readonly isNew: boolean;
	readonly agreement: Agreement | null;
}

/**
 * Takes a fleet over to other servers of shared caches, in two versions of the map
 * (docs/consistency/freshness.md, "Several servers"). What is done stands in the map,
 * so a second call with the same servers continues. Throws CONFLICT where
 * another change is under way, and UNAVAILABLE if some process does not switch.
 */
export async function setCaches(options: SetCaches): Promise<CachesSet> {
	const { store, wanted, why, onStep = () => {} } = options;
	const first = await publish(store, {
		edit: existing((now) => withNext(now, wanted)),
		why: `${why}, first step`,
	});
	const { caches = NO_SERVERS, version } = first.topology;
	const { next } = caches;
	if (next === undefined) {
		const agreement = first.isNew ? await allServe(options, version) : null;
		return { version, isNew: first.isNew, agreement };
	}
	await onStep(`version ${version} has what is to come beside what is`);
	await allServe(options, version);
	await onStep("all processes delete in both");
	// A process that was paused, and is no member any more, reads this before it uses anything cached.
	await requireVersion(store, version);
	await sleep(LIMIT_MS + MARGIN_MS);
	const second = await publish(store, {
		edit: existing((now) => {
			const { next: due } = now.caches ?? NO_SERVERS;
			// Others may wait for another one.
			if (due === undefined || !isSame(due, next)) {
				throw new CorkboardError(
					"CONFLICT",
					`Version ${now.version}, which somebody else has published, has other caches to come.`,
				);
			}
			return { ...now, caches: due };
		}),
		why,
	});
	await onStep(`version ${second.topology.version} has what is to come alone`);
	const agreement = await allServe(options, second.topology.version);
	return { version: second.topology.version, isNew: true, agreement };
}

/** What the first step would publish. */
export function rehearseCaches(
	store: TopologyStore,
	wanted: WantedCaches,
): Promise<Published> {
	const edit = existing((now) => withNext(now, wanted));
	return publish(store, { edit, why: "", isDryRun: true });
}

/** The servers that the map has or is about to have, for those that are not given. */
export async function wantedCaches(
	store: TopologyStore,
	given: { readonly [P in CachePart]: readonly string[] | undefined },
): Promise<WantedCaches> {
	const { caches } = (await requireCurrent(store)).topology;
	const now = caches?.next ?? caches;
	const { objects = now?.objects, lists = now?.lists } = given;
	if (objects === undefined || lists === undefined) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"The map names no caches yet: give both --objects and --lists.",
		);
	}
	return { objects, lists };
}

/** The map in which a change to these has begun, or is taken back, or has another password alone. */
function withNext(
	topology: Topology,
	wanted: WantedCaches,
): Omit<Topology, "version"> {
	const { next, ...now } = topology.caches ?? NO_SERVERS;
	const withCaches = (caches: FleetCaches) => ({ ...topology, caches });
	if (isNamed(now, wanted)) return withCaches({ ...now, ...wanted });
	if (next === undefined) {
		const coming = withChanges(now, wanted, topology.version + 1);
		return withCaches({ ...now, next: coming });
	}
	if (isNamed(next, wanted)) {
		return withCaches({ ...now, next: { ...next, ...wanted } });
	}
	throw new CorkboardError(
		"CONFLICT",
		"A change of the caches is under way, to other servers: complete it (caches set with those), or take it back (caches set with the former).",
	);
}

function isNamed(one: WantedCaches, other: WantedCaches): boolean {
	return CACHE_PARTS.every((part) => {
		const ids = (of: WantedCaches) =>
			new Set(of[part].map((url) => cacheServerId(part, url)));
		return ids(one).symmetricDifference(ids(other)).size === 0;
	});
}

async function allServe(
	{ store, agreeMs, byTimeMs }: SetCaches,
	version: number,
): Promise<Agreement> {
	const agreement = await agreed(store, version, agreeMs, {
		...(byTimeMs !== undefined && { byTimeMs }),
	});
	const { missing } = agreement;
	if (missing.length === 0) return agreement;
	throw new CorkboardError(
		"UNAVAILABLE",
		`${missing.map(({ id, oldest }) => `${id} serves version ${oldest}`).join(", ")}, not ${version}. The caches that are to come are not used yet. Continue with the same command; a process that has no such cache at all has to be started again.`,
	);
}

/** Two checks of a process may be so much further apart than they should. */
const MARGIN_MS = 500;
