import {
	CACHE_PARTS,
	type CachePart,
	cacheServerId,
	cacheServerName,
} from "../topology/caches.ts";
import type { CacheServers, FleetCaches } from "../topology/types.ts";
import type { CacheLayer } from "../trace.ts";
import { fnv1a } from "../util/fnv1a.ts";

/** A server of shared caches. */
export interface ServerRef {
	/** One of the settings and one of the map are two, though they may lead to one place. */
	readonly id: string;
	/** `host:port` */
	readonly name: string;
	readonly url: string;
	/** What processes compare of it (freshness/cacheAgreement.ts); null: nothing beside the version of the list. */
	readonly part: string | null;
}

/** The servers that share the keys of one kind. */
export interface ServerList {
	readonly servers: readonly ServerRef[];
	/** In which version of the map a server last joined or left, by `scheme://host:port`; null: the list is of the settings. */
	readonly changed: Readonly<Record<string, number>> | null;
}

/** Where a key is. */
export interface KeyServer {
	readonly id: string;
	/** Since which version of the map, or an earlier one. Part of the key's name: what the server had of it before that may be old. */
	readonly since: number;
}

/** What the settings name. */
export interface CacheSettings {
	/** `host:port` of each memcached. */
	readonly memcached: readonly string[];
	readonly redis: string | null;
}

/**
 * The lists that are in use, of which the first one is read. A second one is what
 * it is about to become: what has another place there is read and filled in
 * neither, and deleted in both.
 */
export function serverLists(
	caches: FleetCaches | undefined,
	settings: CacheSettings,
	part: CachePart,
): readonly ServerList[] {
	const ofSettings = listOfSettings(settings, part);
	if (caches === undefined) return [ofSettings];
	const { next, ...now } = caches;
	if (next === undefined) return [listOfMap(now, part)];
	const isOfSettings = now.lists.length === 0;
	return [
		isOfSettings ? ofSettings : listOfMap(now, part),
		listOfMap(next, part),
	];
}

/** Every server in use, once. */
export function cacheHosts(
	caches: FleetCaches | undefined,
	settings: CacheSettings,
): readonly { readonly layer: CacheLayer; readonly server: ServerRef }[] {
	const hosts = CACHE_PARTS.flatMap((part) =>
		serverLists(caches, settings, part)
			.flatMap(({ servers }) => servers)
			.map((server) => {
				const layer: CacheLayer = part === "objects" ? "memcached" : "redis";
				return [`${layer} ${server.name}`, { layer, server }] as const;
			}),
	);
	return [...new Map(hosts).values()];
}

function listOfSettings(
	{ memcached, redis }: CacheSettings,
	part: CachePart,
): ServerList {
	const named =
		part === "objects"
			? [...new Set(memcached)]
					.toSorted()
					.map((name) => [name, `memcached://${name}`] as const)
			: redis === null
				? []
				: [[cacheServerName(part, redis), redis] as const];
	const servers = named.map(
		([name, url]): ServerRef => ({ id: `settings ${name}`, name, url, part }),
	);
	return { servers, changed: null };
}

function listOfMap(of: CacheServers, part: CachePart): ServerList {
	const servers = of[part].map((url): ServerRef => {
		const name = cacheServerName(part, url);
		const id = cacheServerId(part, url);
		// A memcached has nothing that identifies it.
		return { id, name, url, part: part === "lists" ? `lists ${name}` : null };
	});
	const scheme = part === "objects" ? "memcached:" : "redis:";
	const changed = Object.entries(of.changed ?? {}).filter(([id]) =>
		id.startsWith(scheme),
	);
	return { servers, changed: Object.fromEntries(changed) };
}

/** The place of a key by its hash, or of a list by its shard; null: there are no servers. */
export type Placing = (hash: number) => KeyServer | null;

export function placingOf(list: ServerList): Placing {
	const { servers, changed } = list;
	if (changed !== null) return byRendezvous(list);
	const places = servers.map(({ id }): KeyServer => ({ id, since: 0 }));
	// It must not change: processes of earlier versions share the servers.
	return (hash) => places[mixed(hash) % places.length] ?? null;
}

/**
 * Each server has a score for each key, and the highest has the key: another list
 * moves only what is of a server that left, or goes to one that joined. A server
 * that has left and had a higher score says since when the key is back.
 */
function byRendezvous({ servers, changed }: ServerList): Placing {
	const present = new Set(servers.map(({ id }) => id));
	const candidates = [...new Set([...present, ...Object.keys(changed ?? {})])]
		.toSorted()
		.map((id) => ({
			seed: fnv1a(id),
			isPresent: present.has(id),
			since: changed?.[id] ?? 0,
			/** Few, and the same one each time. */
			places: new Map<number, KeyServer>(),
			id,
		}));
	return (hash) => {
		let owner: (typeof candidates)[number] | undefined;
		let best = -1;
		for (const candidate of candidates) {
			if (!candidate.isPresent) continue;
			const score = scoreOf(candidate.seed, hash);
			if (score <= best) continue;
			best = score;
			owner = candidate;
		}
		if (owner === undefined) return null;
		let { since } = owner;
		for (const { isPresent, seed, since: left } of candidates) {
			if (!isPresent && left > since && scoreOf(seed, hash) >= best) {
				since = left;
			}
		}
		let place = owner.places.get(since);
		if (place === undefined) {
			place = { id: owner.id, since };
			owner.places.set(since, place);
		}
		return place;
	};
}

/** The server of each number below `count`, about as many at each: the highest scores, as far as a server has room. */
export function spread(
	{ servers }: ServerList,
	count: number,
): readonly string[] {
	const room = new Map(
		servers.map(({ id }) => [id, Math.ceil(count / servers.length)]),
	);
	return Array.from({ length: count }, (_, number) => {
		const [id = ""] = [...room]
			.filter(([, left]) => left > 0)
			.map(([id]) => id)
			.toSorted(
				(a, b) => scoreOf(fnv1a(b), number) - scoreOf(fnv1a(a), number),
			);
		room.set(id, (room.get(id) ?? 0) - 1);
		return id;
	});
}

function scoreOf(seed: number, hash: number): number {
	const once = mixed(seed ^ Math.imul(hash + 1, 0x9e3779b1));
	const again = Math.imul(once, 0xc2b2ae35);
	return (again ^ (again >>> 16)) >>> 0;
}

/** The lower bits of FNV-1a are mixed once more. It must never change: it decides the server of a key. */
function mixed(hash: number): number {
	const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	return (once ^ (once >>> 13)) >>> 0;
}
