import { createHash, randomBytes } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import { cacheServerName } from "../../topology/caches.ts";
import { readTextFileSync } from "../../util/textFile.ts";
import { CacheConnection } from "../cacheConnection.ts";
import type { SharedCacheLevel } from "../diagnostics.ts";
import type { Gate } from "../gate.ts";
import { type ServerList, type ServerRef, serverLists } from "../serverList.ts";
import {
	BUSY,
	type CacheServer,
	DOWN,
	type Fill,
	type FillLease,
	type GetOrLeaseResult,
	inBatches,
	openSharedCache,
	type PlacedCache,
	READ_ELSEWHERE,
} from "../sharedCache.ts";
import type { WriteTrial } from "../writeProof.ts";
import {
	type MemcachedAddress,
	MemcachedConnection,
	MemcachedItem,
	type Response,
	type Token,
} from "./memcachedConnection.ts";

/**
 * The shared cache on memcached, by its meta commands. A fill lease is the CAS
 * number of an empty item that the read created. The flags of an item say what
 * it is: a value, or without them a lease.
 *
 *     getOrLease  mg … N: the item, which is created if there is none;
 *                 W says that this reader created it
 *     fill        ms … C: set with that CAS number: refused if the empty item
 *                 is gone, or the value that a hit returned with its number
 *     delete      md, whatever is there
 *
 * So each is one batch of commands, and a read leases what is absent.
 *
 * A restarted memcached counts CAS numbers from the start, so an old lease could
 * match an item of another process. Therefore a lease is valid only on the
 * connection that took it, which no restart survives.
 *
 * `delete` may remove a lease that was taken after the commit. Then that fill
 * is refused and the next reader leases again: this costs a read and keeps
 * nothing stale.
 *
 * Keys carry a hash of the list of the settings, so a changed list starts empty:
 * all processes must be given the same list, in any order. In a list of the map
 * they carry the version since which the host has the key (serverList.ts).
 */
export function openMemcachedCache(options: {
	/** Each as `host:port`. */
	readonly hosts?: readonly string[];
	/** The servers of the map, or those that it changes to, instead of `hosts`. */
	readonly lists?: readonly ServerList[];
	readonly gateOf?: (server: ServerRef) => Gate;
	/** Milliseconds, for proofs that a server takes writes. */
	readonly now?: () => number;
	/** The address to connect to for a host: tests put a link between. The keys belong to the host. */
	readonly connectTo?: (host: string) => string;
	/** For each batch, connecting included. */
	readonly deadlineMs?: number;
	readonly ttlSeconds?: number;
	readonly leaseSeconds?: number;
}): PlacedCache {
	const { hosts = [], gateOf, now } = options;
	const settings = { memcached: hosts, redis: null };
	const lists = options.lists ?? serverLists(undefined, settings, "objects");
	if (hosts.length === 0 && options.lists === undefined) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"At least one memcached host is required.",
		);
	}
	const limits: Limits = {
		deadlineMs: 100,
		ttlSeconds: 3_600,
		leaseSeconds: 5,
		...options,
	};
	return openSharedCache({
		layer: "memcached",
		isValidKey: (key) => isValidKey(key, MAX_KEY_BYTES - ROOM_BYTES),
		lists,
		gateOf,
		now,
		open({ name, url, part }, onUp) {
			const prefix = `c1.${part === null ? "m" : memcachedIdentity(hosts)}.`;
			const at = options.connectTo?.(name);
			const address =
				part === null
					? memcachedAddress(at === undefined ? url : `memcached://${at}`)
					: parseAddress(at ?? name);
			return new MemcachedServer(name, address, prefix, limits, onUp);
		},
	});
}

/** The identity of a list of hosts, in any order. */
export function memcachedIdentity(hosts: readonly string[]): string {
	const hash = createHash("sha256").update(hostsOf(hosts).join());
	return hash.digest("hex").slice(0, 8);
}

function hostsOf(hosts: readonly string[]): readonly string[] {
	return [...new Set(hosts)].toSorted();
}

interface Limits {
	readonly deadlineMs: number;
	readonly ttlSeconds: number;
	readonly leaseSeconds: number;
}

class MemcachedServer implements CacheServer {
	readonly host: string;
	readonly maxAgeMs: number;
	readonly #prefix: string;
	readonly #link: CacheConnection<MemcachedConnection>;
	/** What ends a command, its flags included. */
	readonly #process = randomBytes(TOKEN_BYTES).toString("base64url");
	readonly #get: string;
	readonly #set: string;

	constructor(
		host: string,
		address: MemcachedAddress,
		prefix: string,
		{ deadlineMs, ttlSeconds, leaseSeconds }: Limits,
		onUp: () => void,
	) {
		this.host = host;
		// memcached counts whole seconds: each of the two may last one more.
		this.maxAgeMs = (ttlSeconds + leaseSeconds + 2) * 1_000;
		this.#prefix = prefix;
		this.#get = ` f c v N${leaseSeconds}\r\n`;
		this.#set = ` F${VALUE_FLAG} T${ttlSeconds} q\r\n`;
		this.#link = new CacheConnection({
			layer: "memcached",
			host,
			deadlineMs,
			open: ({ lost }) => new MemcachedConnection(address, lost),
			onUp,
		});
	}

	async getOrLease(
		keys: readonly string[],
	): Promise<readonly GetOrLeaseResult[] | null> {
		const prefix = this.#prefix;
		const start = `mg ${prefix}`;
		const commands = keys.map((key) => start + key + this.#get);
		let connection: MemcachedConnection | undefined;
		const items = await this.#link.call("get", keys.length, (open) => {
			connection = open;
			return inBatches(commands, BATCH, (batch) => open.ask(batch));
		});
		if (items === null || connection === undefined) return null;
		const asked = { connection, prefix, keys };
		const results = new Array<GetOrLeaseResult>(items.length);
		for (let at = 0; at < items.length; at++) {
			const item = items[at];
			// It has no room for an empty item.
			if (!(item instanceof MemcachedItem)) {
				results[at] = DOWN;
				continue;
			}
			item.asked = asked;
			item.at = at;
			if (item.flags === VALUE_FLAG) results[at] = item;
			else if (item.isCreated) {
				results[at] = { kind: "lease", lease: item.lease };
			} else results[at] = BUSY;
		}
		return results;
	}

	/** CAS numbers are those of one connection. */
	holds(lease: FillLease): boolean {
		return this.#link.isCurrent((lease.token as Token).connection);
	}

	async fill(fills: readonly Fill[]): Promise<number | null> {
		const commands = fills.map(({ lease: { key, token }, value }) => {
			const { cas } = token as Token;
			return value === null
				? `md ${key} C${cas} q\r\n`
				: `ms ${key} ${Buffer.byteLength(value)} C${cas}${this.#set}${value}\r\n`;
		});
		const refused = await this.#sendQuiet("set", commands);
		return refused?.length ?? null;
	}

	async delete(keys: readonly string[], isProbe: boolean): Promise<boolean> {
		const commands = keys.map((key) => `md ${this.#prefix}${key} q\r\n`);
		const refused = await this.#sendQuiet("delete", commands, isProbe);
		return refused?.every((response) => response === NOT_FOUND) ?? false;
	}

	/** What was refused of the commands; null if memcached did not answer. */
	#sendQuiet(
		verb: "set" | "delete",
		commands: string[],
		isProbe = false,
	): Promise<readonly Response[] | null> {
		return this.#link.call(
			verb,
			commands.length,
			(open) => inBatches(commands, BATCH, (batch) => open.sendQuiet(batch)),
			{ isProbe },
		);
	}

	async tryWrite(): Promise<WriteTrial> {
		const key = `${this.#prefix}trial.${this.#process}`;
		const responses = await this.#link.call("try", 1, (open) =>
			open.tryAll([
				`ms ${key} 0 F${VALUE_FLAG} T${TRIAL_KEY_SECONDS}\r\n\r\n`,
				`mg ${key} f\r\n`,
				`md ${key}\r\n`,
				`mg ${key} f\r\n`,
			]),
		);
		if (responses === null) return null;
		const [taken, read, deleted, left] = responses;
		if (deleted !== STORED && deleted !== NOT_FOUND) {
			return new Error(`memcached refuses a delete: ${deleted}`);
		}
		// One that has no room for the key deletes all the same.
		const isShown = taken !== STORED || read?.startsWith("HD") === true;
		return isShown && left === MISS ? true : new Error(READ_ELSEWHERE);
	}

	/** Null also if memcached does not say it, as a proxy in front of several. */
	async level(): Promise<SharedCacheLevel | null> {
		const stats = await this.#link.call("stats", 0, (open) => open.stats(), {
			isProbe: true,
		});
		const number = (name: string) => Number(stats?.get(name));
		const level = {
			entries: number("curr_items"),
			bytes: number("bytes"),
			maxBytes: number("limit_maxbytes"),
			evictions: number("evictions"),
		};
		return Object.values(level).every(Number.isFinite)
			? { layer: "memcached", host: this.host, ...level }
			: null;
	}

	[Symbol.dispose](): void {
		this.#link[Symbol.dispose]();
	}
}

/** The flags of what the cache sets. An item that a read created has none. */
const VALUE_FLAG = 1;

/** The responses to a command that was done, and to a read of an absent key. */
const STORED = "HD";
const MISS = "EN";
const TRIAL_KEY_SECONDS = 1;
const TOKEN_BYTES = 12;

/** The response to a delete of an absent key, from some versions also to a quiet one. */
const NOT_FOUND = "NF";

const MAX_KEY_BYTES = 250;
/** For what the prefix and `nameIn` add. */
const ROOM_BYTES = 40;
/** Commands in one write. */
const BATCH = 500;

/** Whether it is visible ASCII, of the length that memcached takes. */
function isValidKey(key: string, maxBytes: number): boolean {
	const { length } = key;
	if (length === 0 || length > maxBytes) return false;
	for (let at = 0; at < length; at++) {
		const unit = key.charCodeAt(at);
		if (unit < 0x21 || unit > 0x7e) return false;
	}
	return true;
}

/** The address in a URL of the map. */
function memcachedAddress(text: string): MemcachedAddress {
	const url = URL.parse(text);
	if (url === null || url.username === "") {
		return parseAddress(cacheServerName("objects", text));
	}
	const file = url.searchParams.get("password-file");
	const user = decodeURIComponent(url.username);
	return {
		...parseAddress(cacheServerName("objects", text)),
		login: () =>
			`${user} ${file === null ? decodeURIComponent(url.password) : readTextFileSync(file).trim()}`,
	};
}

function parseAddress(text: string): MemcachedAddress {
	const [, host, port] =
		/^([^\s:@/]+|\[[0-9a-f:.]+\]):([0-9]{1,5})$/i.exec(text) ?? [];
	if (host === undefined || Number(port) > 65_535 || Number(port) < 1) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`A memcached host must look like cache1.example.com:11211, got ${JSON.stringify(text)}.`,
		);
	}
	return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}
