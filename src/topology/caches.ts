import { isDecodable } from "../util/isDecodable.ts";
import { optionFault } from "../util/urlOptions.ts";
import type { CacheServers, FleetCaches, Topology } from "./types.ts";

/** What processes share caches of: objects in memcached, lists in Redis, which carries invalidations too. */
export const CACHE_PARTS = ["objects", "lists"] as const;
export type CachePart = (typeof CACHE_PARTS)[number];

const CA = "ssl-ca";
const PASSWORD_FILE = "password-file";

const KINDS = {
	objects: {
		scheme: "memcached",
		port: 11_211,
		form: /^memcached:\/\/[^/]/,
		// Its client speaks no TLS.
		options: [PASSWORD_FILE],
	},
	lists: {
		scheme: "redis",
		port: 6_379,
		form: /^rediss?:\/\/[^/]/,
		options: [CA, PASSWORD_FILE],
	},
} as const;

/** What is wrong with the URL of a server of a shared cache; null if nothing is. It does not repeat the URL, which may hold a password. */
export function cacheUrlFault(part: CachePart, text: string): string | null {
	const { scheme, port, form, options } = KINDS[part];
	const url = URL.parse(text);
	if (url === null || !form.test(text) || url.hostname === "") {
		return `it must look like ${scheme}://cache1.example.com:${port}`;
	}
	const fault = optionFault(url, options);
	if (fault !== null) return fault;
	if (!isDecodable(url.username) || !isDecodable(url.password)) {
		return "a % in its user or password must be written as %25";
	}
	const file = url.searchParams.get(PASSWORD_FILE);
	if (file === "") return `${PASSWORD_FILE} must be the path of a file`;
	if (file !== null && url.password !== "") {
		return `it has a password and ${PASSWORD_FILE}: give one of them`;
	}
	const hasPassword = file !== null || url.password !== "";
	if (part === "objects" && hasPassword !== (url.username !== "")) {
		return "a user and a password go together: memcached://USER:PASSWORD@HOST, or USER@HOST with password-file";
	}
	const ca = url.searchParams.get(CA);
	if (ca === "") return `${CA} must be the path of a file with certificates`;
	return ca !== null && url.protocol !== `${scheme}s:`
		? `${CA} needs ${scheme}s://: ${scheme}:// is not encrypted`
		: null;
}

/** `host:port` of a valid URL: what a server is called wherever it may be printed. */
export function cacheServerName(part: CachePart, text: string): string {
	const { hostname, port } = new URL(text);
	return `${hostname}:${port || KINDS[part].port}`;
}

/** `redis://host:port`: a server, whatever its password. */
export function cacheServerId(part: CachePart, text: string): string {
	return `${KINDS[part].scheme}://${cacheServerName(part, text)}`;
}

const ID = /^(?:memcached|redis):\/\/[^/]+:\d+$/;

/** What is wrong with `caches` of a map, each as `path: sentence`. */
export function cacheFaults(value: unknown, path: string): readonly string[] {
	const faults = serversFaults(value, path, ["next"]);
	if (!isRecord(value) || faults.length > 0) return faults;
	const { next, lists } = value;
	if (next !== undefined) {
		const ofNext = serversFaults(next, `${path}.next`, []);
		return isRecord(next) && isEmpty(next.lists)
			? [...ofNext, `${path}.next.lists: expected a Redis but got: none`]
			: ofNext;
	}
	return isEmpty(lists)
		? [`${path}.lists: expected a Redis but got: none`]
		: [];
}

function serversFaults(
	value: unknown,
	path: string,
	others: readonly string[],
): readonly string[] {
	if (!isRecord(value)) {
		return [`${path}: expected lists of servers but got: something else`];
	}
	const known = [...CACHE_PARTS, "changed", ...others];
	const faults = Object.keys(value)
		.filter((name) => !known.includes(name))
		.map(
			(name) =>
				`${path}: expected only ${known.join(", ")} but got: ${JSON.stringify(name)}`,
		);
	for (const part of CACHE_PARTS) {
		const urls = value[part];
		if (!Array.isArray(urls)) {
			faults.push(`${path}.${part}: expected a list of URLs but got: none`);
			continue;
		}
		const names = new Set<string>();
		for (const [index, url] of urls.entries()) {
			const fault =
				typeof url === "string"
					? cacheUrlFault(part, url)
					: "it must be a string";
			if (fault !== null) {
				faults.push(`${path}.${part}[${index}]: ${fault}`);
				continue;
			}
			const name = cacheServerName(part, url);
			if (names.has(name)) {
				faults.push(`${path}.${part}[${index}]: ${name} is there twice`);
			}
			names.add(name);
		}
	}
	const { changed = {} } = value;
	const isValid =
		isRecord(changed) &&
		Object.entries(changed).every(
			([id, version]) =>
				ID.test(id) && Number.isSafeInteger(version) && Number(version) > 0,
		);
	if (!isValid) {
		faults.push(
			`${path}.changed: expected versions by scheme://host:port, as caches set writes them, but got: something else`,
		);
	}
	return faults;
}

/** What is against a change of the caches of a running fleet: it goes by way of `next` (docs/consistency/freshness.md, "Several servers"). */
export function cacheChangeFaults(
	old: Topology,
	{ caches: next, version }: Topology,
): readonly string[] {
	if (next === undefined) {
		return old.caches === undefined
			? []
			: ["caches: expected those that were there but got: none"];
	}
	const { next: coming, ...now } = next;
	const before = old.caches ?? NO_SERVERS;
	const { next: due } = before;
	const isStep = isSame(now, before)
		? coming === undefined ||
			(due !== undefined && isSame(coming, due)) ||
			isSame(coming, withChanges(now, coming, version))
		: coming === undefined && due !== undefined && isSame(now, due);
	return isStep
		? []
		: [
				'caches: expected the same servers, or those of "next", but got: others. Change them with caches set, which lets all processes switch',
			];
}

/** The servers that come, with the version in which those that join or leave do. */
export function withChanges(
	now: CacheServers,
	{ objects, lists }: Pick<CacheServers, CachePart>,
	version: number,
): CacheServers {
	const ids = (servers: Pick<CacheServers, CachePart>) =>
		CACHE_PARTS.flatMap((part) =>
			servers[part].map((url) => cacheServerId(part, url)),
		);
	const [before, after] = [new Set(ids(now)), new Set(ids({ objects, lists }))];
	const moved = [...before.symmetricDifference(after)];
	return {
		objects,
		lists,
		changed: {
			...now.changed,
			...Object.fromEntries(moved.map((id) => [id, version])),
		},
	};
}

/** If the servers are those of the settings. */
export const NO_SERVERS: FleetCaches = { objects: [], lists: [] };

/** A changed password or certificate moves nothing. */
export function isSame(one: CacheServers, other: CacheServers): boolean {
	return describe(one) === describe(other);
}

function describe(servers: CacheServers): string {
	const parts = CACHE_PARTS.map((part) =>
		servers[part].map((url) => cacheServerId(part, url)).toSorted(),
	);
	return JSON.stringify([parts, Object.entries(servers.changed ?? {}).sort()]);
}

/** The servers of a map, by name, as they may be printed; null: those of the settings. */
export function describeCaches(
	{ caches }: Topology,
	part: CachePart,
): string | null {
	if (caches === undefined) return null;
	const names = (servers: CacheServers) =>
		servers[part].map((url) => cacheServerName(part, url)).join(" ") || "none";
	const { next } = caches;
	const now = isSame({ ...caches, changed: {} }, NO_SERVERS)
		? "of the settings"
		: names(caches);
	return next === undefined || names(next) === now
		? now
		: `${now}, next ${names(next)}`;
}

/** As JSON, without passwords. */
export function cachesWithoutPasswords({
	next,
	...servers
}: FleetCaches): unknown {
	const named = (of: CacheServers) => ({
		...of,
		objects: of.objects.map((url) => cacheServerId("objects", url)),
		lists: of.lists.map((url) => cacheServerId("lists", url)),
	});
	return { ...named(servers), ...(next && { next: named(next) }) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
	return Array.isArray(value) && value.length === 0;
}
