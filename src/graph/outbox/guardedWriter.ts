import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { modShard } from "../../storage/modShard.ts";
import type { KeyResult, LookupKey } from "../../storage/rows.ts";
import { storageAround } from "../../storage/versions/storageAround.ts";
import type { HostBreakers, HostSkipped } from "./hostBreakers.ts";
import { invalidationFailed, type Writer } from "./writer.ts";

/**
 * A writer that asks no host whose breaker is open: such a call fails at once
 * with HostSkipped, for the keys of that host only. `mayProbe` says whether it
 * asks hosts again whose pause is over.
 */
export function createGuardedWriter(
	writer: Writer,
	breakers: HostBreakers,
	mayProbe: (host: string) => boolean = () => true,
): Writer {
	const { store } = writer;
	const { storage } = store;

	function check(host: string | null): void {
		breakers.check(host, host !== null && mayProbe(host));
	}

	/** One call for the keys of hosts that may be asked, each host's breaker set by its results. */
	async function perHost<Key, Result>(
		keys: readonly Key[],
		hostOf: (key: Key) => string | null,
		call: (keys: readonly Key[]) => Promise<readonly KeyResult<Result>[]>,
	): Promise<readonly KeyResult<Result>[]> {
		const results = new Array<KeyResult<Result>>(keys.length);
		const asked: number[] = [];
		for (const [at, key] of keys.entries()) {
			try {
				check(hostOf(key));
				asked.push(at);
			} catch (error) {
				results[at] = error as HostSkipped;
			}
		}
		if (asked.length === 0) return results;
		const given = await call(asked.map((at) => keys[at] as Key));
		const failed = new Map<string | null, CorkboardError>();
		const answered = new Set<string | null>();
		for (const [nth, at] of asked.entries()) {
			const result = given[nth] as KeyResult<Result>;
			results[at] = result;
			const host = hostOf(keys[at] as Key);
			if (result instanceof CorkboardError) failed.set(host, result);
			else answered.add(host);
		}
		for (const host of answered)
			if (!failed.has(host)) breakers.succeeded(host);
		for (const [host, error] of failed) breakers.failed(host, error);
		return results;
	}

	const hostOfId = (id: Id) => storage.map.hostOf(unpackId(id).shard);
	const hostOfKey = ({ key }: LookupKey) =>
		storage.map.hostOfModShard(modShard(key, storage.map.modShards));

	const guarded = storageAround(storage, {
		read(kind, keys, call) {
			const read = (some: typeof keys) => storage.read(kind, some, call);
			if (kind === "objects") {
				return perHost(keys, (id) => hostOfId(id as Id), read);
			}
			return kind === "lookups"
				? perHost(keys, (key) => hostOfKey(key as LookupKey), read)
				: read(keys);
		},
	});

	return {
		store: store.with({ storage: guarded }),
		call: writer.call,
		async transact(transaction) {
			const host = storage.map.hostOf(transaction.shard);
			check(host);
			try {
				const committed = await writer.transact(transaction);
				breakers.succeeded(host);
				return committed;
			} catch (error) {
				breakers.failed(host, error);
				throw error;
			}
		},
		compareAndSetLookups: (changes) =>
			perHost(changes, hostOfKey, (some) => writer.compareAndSetLookups(some)),
		async invalidate(changed, host) {
			if (host === undefined || host === null)
				return writer.invalidate(changed);
			check(host);
			const acknowledged = await writer.invalidate(changed);
			if (acknowledged) breakers.succeeded(host);
			else breakers.failed(host, invalidationFailed(host));
			return acknowledged;
		},
		deleteOutboxEntries: (rows) => writer.deleteOutboxEntries(rows),
		enqueueJobs: (jobs) =>
			perHost(
				jobs,
				({ shard }) => store.jobs?.queue.hostOf(shard) ?? null,
				(some) => writer.enqueueJobs(some),
			),
		defersJobs: writer.defersJobs,
	};
}
