import { createHash } from "node:crypto";
import type { SharedCacheLevel } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { fnv1a } from "../util/fnv1a.ts";
import { listening } from "../util/listening.ts";
import { CacheConnection } from "./cacheConnection.ts";
import { reportFills } from "./fills.ts";
import {
	type Cas,
	type Command,
	MemcachedConnection,
	type MemcachedResponse,
	OPCODE,
	STATUS,
} from "./memcachedConnection.ts";
import { type Forecast, MissForecast } from "./missForecast.ts";
import { PendingDeletes } from "./pendingDeletes.ts";
import {
	type Fill,
	type FillLease,
	type GetOrLeaseResult,
	LEASE_SHARE,
	type SharedCache,
} from "./sharedCache.ts";

/**
 * The shared cache on memcached. A fill lease is the CAS number of a marker
 * item. The flags of an item say what it is: a value, a marker or a tombstone.
 *
 *     getOrLease     get, and for each absent key: add a marker and keep its CAS;
 *                    where most keys are absent, both in one batch for all keys
 *     fill           set with that CAS: refused if the marker is gone, or the
 *                    value that a hit returned with its CAS
 *     putTombstones  set a tombstone, whatever is there
 *     delete         delete, whatever is there
 *
 * A restarted memcached counts CAS numbers from the start, so an old lease could
 * match a marker of another process. Therefore a lease is valid only on the
 * connection that took it, which no restart survives.
 *
 * `delete` may remove a marker that was added after the commit. Then that fill
 * is refused and the next reader leases again: this costs a read and keeps
 * nothing stale. To delete only a tombstone would be wrong: it may have expired
 * before the commit, and a stale value have been filled.
 *
 * Each key belongs to one host. Keys of a host that is down are skipped, not
 * moved to another host, whose copy would be stale when it is read again. Keys
 * carry a hash of the host list, so a changed list starts empty. All processes
 * must be given the same list, in any order. Flush a host that returns to the
 * list within `ttlSeconds`.
 */
export function openMemcachedCache(options: {
	/** Each as `host:port`. */
	readonly hosts: readonly string[];
	/** The address to connect to for a host: tests put a link between. The keys belong to the host. */
	readonly connectTo?: (host: string) => string;
	/** For each batch, connecting included. */
	readonly deadlineMs?: number;
	readonly ttlSeconds?: number;
	readonly leaseSeconds?: number;
	readonly tombstoneSeconds?: number;
	/** Of one host: decides whether absent keys are leased with the read. */
	readonly forecastOf?: () => Forecast;
}): SharedCache {
	const {
		deadlineMs = 100,
		ttlSeconds = 3_600,
		leaseSeconds = 5,
		// memcached counts whole seconds: 3 s last at least 2.
		tombstoneSeconds = 3,
		forecastOf = () => new MissForecast(),
	} = options;
	const addresses = [...new Set(options.hosts)].toSorted();
	if (addresses.length === 0) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"At least one memcached host is required.",
		);
	}
	const prefix = `c1.${createHash("sha256").update(addresses.join()).digest("hex").slice(0, 8)}.`;
	const hosts = addresses.map((address): Host => {
		const parsed = parseAddress(options.connectTo?.(address) ?? address);
		const connection: Host["connection"] = new CacheConnection({
			layer: "memcached",
			host: address,
			deadlineMs,
			open: ({ lost }) => new MemcachedConnection(parsed, lost),
			onUp: () => deletes.retry(),
		});
		const deletes = new PendingDeletes({
			// memcached counts whole seconds: each of the two may last one more.
			maxAgeMs: (ttlSeconds + leaseSeconds + 2) * 1_000,
			async send(keys, isProbe) {
				const responses = await connection.call(
					"delete",
					keys.length,
					(open) =>
						exchange(
							open,
							keys.map((key) => ({
								opcode: OPCODE.DELETEQ,
								key: prefix + key,
							})),
						),
					{ isProbe },
				);
				return (
					responses?.every(
						(response) =>
							response === undefined || response.status === STATUS.NOT_FOUND,
					) ?? false
				);
			},
		});
		return { connection, deletes, forecast: forecastOf() };
	});
	const extrasOf = (kind: number, seconds: number) => {
		const extras = Buffer.alloc(8);
		extras.writeUInt32BE(kind, 0);
		extras.writeUInt32BE(seconds, 4);
		return extras;
	};
	const valueExtras = extrasOf(KIND.VALUE, ttlSeconds);
	const leaseExtras = extrasOf(KIND.LEASE, leaseSeconds);
	const tombstoneExtras = extrasOf(KIND.TOMBSTONE, tombstoneSeconds);

	const hostOf = (key: string) => hosts[hostIndex(key, hosts.length)] as Host;

	/** The indexes of the keys that memcached accepts, by host. */
	const byHost = (
		keys: readonly string[],
	): readonly (readonly [Host, readonly number[]])[] => {
		const groups = new Map<Host, number[]>();
		for (let index = 0; index < keys.length; index++) {
			const key = keys[index] as string;
			if (!isValidKey(key, MAX_KEY_BYTES - prefix.length)) continue;
			const host = hostOf(key);
			const group = groups.get(host);
			if (group) group.push(index);
			else groups.set(host, [index]);
		}
		return [...groups];
	};

	/** Puts the results of one host's keys into `results`. */
	async function getOrLeaseOf(
		host: Host,
		all: readonly number[],
		keys: readonly string[],
		results: GetOrLeaseResult[],
		until: number,
	): Promise<void> {
		const { connection: link, deletes, forecast } = host;
		const indexes = deletes.isEmpty
			? all
			: all.filter((at) => !deletes.has(keys[at] as string));
		if (indexes.length === 0) return;
		const gets = indexes.map((at) => ({
			opcode: OPCODE.GETQ,
			key: prefix + (keys[at] as string),
		}));
		let connection: MemcachedConnection | undefined;
		const addOf = ({ key }: Command): Command => ({
			opcode: OPCODE.ADD,
			key,
			extras: leaseExtras,
		});
		const withAdds = forecast.isLikely;
		const commands = withAdds ? [...gets, ...gets.map(addOf)] : gets;
		const items = await link.call("get", gets.length, (open) => {
			connection = open;
			return exchange(open, commands);
		});
		if (items === null || connection === undefined) return;
		/** A lease or BUSY by the response to an ADD. */
		const lease = (
			at: number,
			response: MemcachedResponse | undefined,
			leasedOn: MemcachedConnection,
		): void => {
			const index = indexes[at] as number;
			if (response?.status === STATUS.OK) {
				const { key } = gets[at] as Command;
				const { cas } = response;
				const token: Token = { host, connection: leasedOn, cas };
				results[index] = { kind: "lease", lease: { key, token } };
			} else if (response?.status === STATUS.EXISTS) {
				results[index] = BUSY;
			}
		};
		const missing: number[] = [];
		for (let at = 0; at < gets.length; at++) {
			const item = items[at];
			if (item === undefined) missing.push(at);
			else if (item.status === STATUS.OK) {
				results[indexes[at] as number] =
					item.flags === KIND.VALUE
						? new Hit((gets[at] as Command).key, item, host, connection)
						: BUSY;
			}
		}
		forecast.add(gets.length, missing.length);
		if (withAdds) {
			for (let at = 0; at < gets.length; at++) {
				const added = items[gets.length + at];
				// Also of a value that went between the two commands: nobody else may fill the key now.
				if (items[at] === undefined || added?.status === STATUS.OK) {
					lease(at, added, connection);
				}
			}
			return;
		}
		// A busy process may have no time left: that is not the host's fault.
		const leftMs = until - listening.now();
		if (missing.length === 0 || leftMs < deadlineMs * LEASE_SHARE) return;
		let leasedOn: MemcachedConnection | undefined;
		const responses = await link.call(
			"lease",
			missing.length,
			(open) => {
				leasedOn = open;
				return exchange(
					open,
					missing.map((at) => addOf(gets[at] as Command)),
				);
			},
			{ deadlineMs: leftMs },
		);
		if (responses === null || leasedOn === undefined) return;
		for (let at = 0; at < missing.length; at++) {
			lease(missing[at] as number, responses[at], leasedOn);
		}
	}

	/** Whether the result is true for the keys of every host. */
	const everyHost = async (
		keys: readonly string[],
		send: (host: Host, ofHost: readonly string[]) => Promise<boolean>,
	): Promise<boolean> => {
		const acknowledged = await Promise.all(
			byHost(keys).map(([host, indexes]) =>
				send(
					host,
					indexes.map((at) => keys[at] as string),
				),
			),
		);
		return acknowledged.every(Boolean);
	};

	return {
		layer: "memcached",
		hostOf: (key) => hostOf(key).connection.host,

		async getOrLease(keys) {
			const results = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
			const until = listening.now() + deadlineMs;
			const groups = byHost(keys);
			const asked = groups.map(([host, indexes]) =>
				getOrLeaseOf(host, indexes, keys, results, until),
			);
			if (asked.length === 1) await asked[0];
			else if (asked.length > 1) await Promise.all(asked);
			return results;
		},

		async fill(fills) {
			const fillsByHost = Map.groupBy(
				fills,
				({ lease }) => (lease.token as Token).host,
			);
			await Promise.all(
				[...fillsByHost].map(([host, ofHost]) =>
					fillHost(host, ofHost, valueExtras),
				),
			);
		},

		putTombstones: (keys) =>
			everyHost(keys, async ({ connection }, ofHost) => {
				const responses = await connection.call(
					"tombstone",
					ofHost.length,
					(open) =>
						exchange(
							open,
							ofHost.map((key) => ({
								opcode: OPCODE.SETQ,
								key: prefix + key,
								extras: tombstoneExtras,
							})),
						),
				);
				return responses?.every((response) => response === undefined) ?? false;
			}),

		delete: (keys) =>
			everyHost(keys, ({ deletes }, ofHost) => deletes.delete(ofHost)),

		untilDeleted: (keys, ms) =>
			everyHost(keys, ({ deletes }, ofHost) => deletes.untilDone(ofHost, ms)),

		levels: () =>
			Promise.all(hosts.map(({ connection }) => levelOf(connection))).then(
				(levels) => levels.filter((level) => level !== null),
			),

		async [Symbol.asyncDispose]() {
			for (const { connection, deletes } of hosts) {
				deletes[Symbol.dispose]();
				connection[Symbol.dispose]();
			}
		},
	};
}

const KIND = { VALUE: 1, LEASE: 2, TOMBSTONE: 3 } as const;

const BUSY: GetOrLeaseResult = { kind: "busy" };
const DOWN: GetOrLeaseResult = { kind: "down" };

interface Host {
	readonly connection: CacheConnection<MemcachedConnection>;
	readonly deletes: PendingDeletes;
	readonly forecast: Forecast;
}

interface Token {
	readonly host: Host;
	readonly connection: MemcachedConnection;
	readonly cas: Cas;
}

const MAX_KEY_BYTES = 250;
/** memcached's limit is 1 MiB for value, key and item header together. */
const MAX_VALUE_BYTES = 1_000_000;
/** Commands in one write. */
const BATCH = 500;
/** Bytes of values in one write: a larger one would delay the reads behind it. */
const BATCH_BYTES = 256 * 1024;

/** A value, and the right to replace it: most readers do not take it. */
class Hit {
	readonly kind = "hit";
	readonly #key: string;
	readonly #item: MemcachedResponse;
	readonly #host: Host;
	readonly #connection: MemcachedConnection;

	constructor(
		key: string,
		item: MemcachedResponse,
		host: Host,
		connection: MemcachedConnection,
	) {
		this.#key = key;
		this.#item = item;
		this.#host = host;
		this.#connection = connection;
	}

	get value(): string {
		return this.#item.value;
	}

	get lease(): FillLease {
		const { cas } = this.#item;
		const token: Token = {
			host: this.#host,
			connection: this.#connection,
			cas,
		};
		return { key: this.#key, token };
	}
}

/** Visible ASCII. A key that memcached rejects is never cached, so there is nothing to delete either. */
function isValidKey(key: string, maxBytes: number): boolean {
	const { length } = key;
	if (length === 0 || length > maxBytes) return false;
	for (let at = 0; at < length; at++) {
		const unit = key.charCodeAt(at);
		if (unit < 0x21 || unit > 0x7e) return false;
	}
	return true;
}

function exchange(
	connection: MemcachedConnection,
	commands: readonly Command[],
): Promise<readonly (MemcachedResponse | undefined)[]> {
	if (commands.length <= BATCH) return connection.exchange(commands);
	const batches: Promise<readonly (MemcachedResponse | undefined)[]>[] = [];
	for (let at = 0; at < commands.length; at += BATCH) {
		batches.push(connection.exchange(commands.slice(at, at + BATCH)));
	}
	return Promise.all(batches).then((all) => all.flat());
}

/** Null if it does not answer, or does not say it, as a proxy in front of several. */
async function levelOf(
	link: CacheConnection<MemcachedConnection>,
): Promise<SharedCacheLevel | null> {
	const stats = await link.call("stats", 0, (open) => open.stats(), {
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
		? { layer: "memcached", host: link.host, ...level }
		: null;
}

/** Batches go one after the other. Only leases taken on the current connection are valid. */
async function fillHost(
	{ connection: link }: Host,
	fills: readonly Fill[],
	extras: Buffer,
): Promise<void> {
	for (let at = 0; at < fills.length; ) {
		const commands: Command[] = [];
		for (let bytes = 0; at < fills.length && bytes < BATCH_BYTES; at++) {
			const { lease, value } = fills[at] as Fill;
			const { key } = lease;
			const { connection, cas } = lease.token as Token;
			if (!link.isCurrent(connection)) continue;
			const size = Buffer.byteLength(value ?? "");
			if (value !== null && size <= MAX_VALUE_BYTES && value.isWellFormed()) {
				bytes += size;
				commands.push({ opcode: OPCODE.SETQ, key, extras, value, cas });
			} else {
				// Remove the marker, so that no reader waits for a value that is not cached.
				commands.push({ opcode: OPCODE.DELETEQ, key, cas });
			}
		}
		if (commands.length === 0) return;
		const done = await link.call("set", commands.length, (connection) =>
			exchange(connection, commands),
		);
		// Only what is refused is answered.
		const refused = done?.filter((one) => one !== undefined).length ?? 0;
		reportFills("memcached", commands.length, done === null ? null : refused);
		if (done === null) return;
	}
}

function parseAddress(text: string): {
	readonly host: string;
	readonly port: number;
} {
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

/** The hash is mixed once more for the modulo. It must never change: it decides the host of a key. */
function hostIndex(key: string, hosts: number): number {
	if (hosts === 1) return 0;
	const hash = fnv1a(key);
	const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	return ((mixed ^ (mixed >>> 13)) >>> 0) % hosts;
}
