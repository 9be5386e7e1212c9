import { createHash } from "node:crypto";
import { CorkboardError } from "../errors.ts";
import { CacheConnection } from "./cacheConnection.ts";
import {
	type Command,
	MemcachedConnection,
	type MemcachedResponse,
	OPCODE,
	STATUS,
} from "./memcachedConnection.ts";
import type { Fill, GetOrLeaseResult, SharedCache } from "./sharedCache.ts";

/**
 * Leases by memcached's own CAS numbers. What an item is, its flags say.
 *
 *     look   get, and where nothing is: add a marker, and keep its CAS
 *     fill   set with that CAS: refused if the marker is no longer there
 *     bury   set a tombstone, whatever is there
 *     clear  delete, whatever is there
 *
 * CAS numbers begin anew when memcached is started anew, so an old lease could
 * fit a stranger's marker: a lease is good only on the connection that got it,
 * which no restart survives.
 *
 * `clear` may take away a marker that somebody put after the commit. Then that
 * fill is refused and the next reader leases again: a read lost, nothing old
 * kept. To delete only a tombstone would be wrong: it may have run out before
 * the commit, and an old value come in.
 *
 * A key goes to one host for ever; that of a dead host is skipped, because what
 * another kept for it meanwhile would be old when it is asked again. The keys
 * carry a hash of the hosts' names, so a changed list begins empty. All
 * processes must be given the same list, in any order; one that is taken back
 * into use within `ttlSeconds` has to be flushed first.
 */
export function openMemcachedCache(options: {
	/** Each as `host:port`. */
	readonly hosts: readonly string[];
	/** For each batch, connecting included. */
	readonly deadlineMs?: number;
	readonly ttlSeconds?: number;
	readonly leaseSeconds?: number;
	readonly tombstoneSeconds?: number;
}): SharedCache {
	const {
		deadlineMs = 100,
		ttlSeconds = 3_600,
		leaseSeconds = 5,
		// memcached counts whole seconds: of 3 s at least 2 are left.
		tombstoneSeconds = 3,
	} = options;
	const hosts = [...new Set(options.hosts)].toSorted();
	if (hosts.length === 0) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"Expected at least one memcached host but got: none",
		);
	}
	const prefix = `c1.${createHash("sha256").update(hosts.join()).digest("hex").slice(0, 8)}.`;
	const links = hosts.map((host) => {
		const address = parseAddress(host);
		return new CacheConnection({
			layer: "memcached",
			host,
			deadlineMs,
			open: (lost) => new MemcachedConnection(address, lost),
		});
	});
	const asItem = (kind: number, seconds: number) => {
		const extras = Buffer.alloc(8);
		extras.writeUInt32BE(kind, 0);
		extras.writeUInt32BE(seconds, 4);
		return extras;
	};
	const valueExtras = asItem(KIND.VALUE, ttlSeconds);
	const leaseExtras = asItem(KIND.LEASE, leaseSeconds);
	const tombstoneExtras = asItem(KIND.TOMBSTONE, tombstoneSeconds);

	/** The positions of the keys that memcached can take, by their hosts. */
	const byHost = (keys: readonly string[]) => {
		const groups = new Map<CacheConnection<MemcachedConnection>, number[]>();
		for (const [index, key] of keys.entries()) {
			if (key.length > MOST_KEY_BYTES - prefix.length || !KEY.test(key)) {
				continue;
			}
			const link = links[
				hash(key) % links.length
			] as CacheConnection<MemcachedConnection>;
			const group = groups.get(link);
			if (group) group.push(index);
			else groups.set(link, [index]);
		}
		return [...groups];
	};

	/** Whether every host did what it was told for its keys. */
	const tellAll = async (
		verb: "tombstone" | "delete",
		keys: readonly string[],
		command: (key: string) => Command,
		isDone: (answer: MemcachedResponse | undefined) => boolean,
	): Promise<boolean> => {
		const acknowledged = await Promise.all(
			byHost(keys).map(async ([link, indexes]) => {
				const commands = indexes.map((at) =>
					command(prefix + (keys[at] as string)),
				);
				const answers = await link.call(verb, indexes.length, (connection) =>
					exchange(connection, commands),
				);
				return answers?.every(isDone) ?? false;
			}),
		);
		return acknowledged.every(Boolean);
	};

	return {
		layer: "memcached",

		async getOrLease(keys) {
			const looked = new Array<GetOrLeaseResult>(keys.length).fill(DOWN);
			const until = performance.now() + deadlineMs;
			await Promise.all(
				byHost(keys).map(async ([link, indexes]) => {
					const gets = indexes.map((at) => ({
						opcode: OPCODE.GETQ,
						key: prefix + (keys[at] as string),
					}));
					const items = await link.call("get", gets.length, (connection) =>
						exchange(connection, gets),
					);
					if (items === null) return;
					const missing: { readonly index: number; readonly key: string }[] =
						[];
					for (const [at, item] of items.entries()) {
						const index = indexes[at] as number;
						if (item === undefined) {
							missing.push({ index, key: (gets[at] as Command).key });
						} else if (item.status === STATUS.OK) {
							looked[index] = asLooked(item);
						}
					}
					if (missing.length === 0) return;
					const adds = missing.map(({ key }) => ({
						opcode: OPCODE.ADD,
						key,
						extras: leaseExtras,
					}));
					const leased = await link.call(
						"lease",
						adds.length,
						async (connection) => ({
							connection,
							answers: await exchange(connection, adds),
						}),
						until - performance.now(),
					);
					for (const [at, answer] of leased?.answers.entries() ?? []) {
						const { index, key } = missing[at] as (typeof missing)[number];
						if (answer?.status === STATUS.OK) {
							const token: Token = {
								link,
								connection: leased?.connection as MemcachedConnection,
								cas: answer.cas,
							};
							looked[index] = { kind: "lease", lease: { key, token } };
						} else if (answer?.status === STATUS.EXISTS) {
							looked[index] = BUSY;
						}
					}
				}),
			);
			return looked;
		},

		async fill(fills) {
			const byLink = Map.groupBy(
				fills,
				({ lease }) => (lease.token as Token).link,
			);
			await Promise.all(
				[...byLink].map(([link, ofHost]) =>
					fillHost(link, ofHost, valueExtras),
				),
			);
		},

		putTombstones: (keys) =>
			tellAll(
				"tombstone",
				keys,
				(key) => ({ opcode: OPCODE.SETQ, key, extras: tombstoneExtras }),
				(answer) => answer === undefined,
			),

		delete: (keys) =>
			tellAll(
				"delete",
				keys,
				(key) => ({ opcode: OPCODE.DELETEQ, key }),
				(answer) => answer === undefined || answer.status === STATUS.NOT_FOUND,
			),

		async [Symbol.asyncDispose]() {
			for (const link of links) link[Symbol.dispose]();
		},
	};
}

const KIND = { VALUE: 1, LEASE: 2, TOMBSTONE: 3 } as const;

const BUSY: GetOrLeaseResult = { kind: "busy" };
const DOWN: GetOrLeaseResult = { kind: "down" };

interface Token {
	readonly link: CacheConnection<MemcachedConnection>;
	readonly connection: MemcachedConnection;
	readonly cas: Buffer;
}

const MOST_KEY_BYTES = 250;
/** Visible ASCII. A key that memcached would choke on is never looked up there, so there is nothing to clear either. */
const KEY = /^[\x21-\x7e]+$/;
/** memcached's own limit is 1 MiB for value, key and its record together. */
const MOST_VALUE_BYTES = 1_000_000;
/** Commands in one write. */
const BATCH = 500;
/** Of values in one write: larger ones would keep reads waiting behind them. */
const BATCH_BYTES = 256 * 1024;

function asLooked({ flags, value }: MemcachedResponse): GetOrLeaseResult {
	return flags === KIND.VALUE ? { kind: "hit", value } : BUSY;
}

async function exchange(
	connection: MemcachedConnection,
	commands: readonly Command[],
): Promise<readonly (MemcachedResponse | undefined)[]> {
	if (commands.length <= BATCH) return connection.exchange(commands);
	const batches: Promise<readonly (MemcachedResponse | undefined)[]>[] = [];
	for (let at = 0; at < commands.length; at += BATCH) {
		batches.push(connection.exchange(commands.slice(at, at + BATCH)));
	}
	return (await Promise.all(batches)).flat();
}

/** One write after the other, of what was leased on the connection that there is. */
async function fillHost(
	link: CacheConnection<MemcachedConnection>,
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
			const size = Buffer.byteLength(value);
			if (size <= MOST_VALUE_BYTES && value.isWellFormed()) {
				bytes += size;
				commands.push({ opcode: OPCODE.SETQ, key, extras, value, cas });
			} else {
				// Nobody can keep it, so nobody is to wait for it.
				commands.push({ opcode: OPCODE.DELETEQ, key, cas });
			}
		}
		if (commands.length === 0) return;
		const done = await link.call("set", commands.length, (connection) =>
			exchange(connection, commands),
		);
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
			`A memcached host must be like cache1.example.com:11211 but got: ${JSON.stringify(text)}`,
		);
	}
	return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

/** FNV-1a, with its bits mixed for the modulo. It may never change: a key is looked for on the host it names. */
function hash(key: string): number {
	let value = 0x811c9dc5;
	for (let at = 0; at < key.length; at++) {
		value = Math.imul(value ^ key.charCodeAt(at), 0x01000193);
	}
	value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
	return (value ^ (value >>> 13)) >>> 0;
}
