import { CACHE_CHANNELS } from "../cache/diagnostics.ts";
import { listen } from "../diagnostics.ts";
import { FRESHNESS_CHANNELS } from "../freshness/diagnostics.ts";
import { OUTBOX_CHANNELS } from "../graph/outbox/diagnostics.ts";
import { QUEUE_CHANNELS } from "../queue/diagnostics.ts";
import { REFUSED_WARNING_MS } from "../queue/rotation.ts";
import { POOL_LEVELS, STORAGE_CHANNELS } from "../storage/diagnostics.ts";
import { CREATE_TABLES, NAMED_TABLES } from "../storage/hostReport.ts";
import { TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import { TRACE_CHANNELS } from "../traces/diagnostics.ts";
import { reasonOf } from "../util/reasonOf.ts";
import { sureSeconds } from "../util/sureSeconds.ts";
import { WORKER_CHANNELS } from "../worker/diagnostics.ts";
import { SERVER_CHANNELS } from "./diagnostics.ts";
import type { createLog } from "./log.ts";

type Log = ReturnType<typeof createLog>;

/** Leases and times of creation are by the clocks of several machines. */
const CLOCK_SECONDS = 1;

/** Logs what an operator needs to know besides requests, until disposed. docs/reference/log-events.md says what to do about each event. */
export function logEvents(log: Log): Disposable {
	const failures = new Repeated();
	let spansLost = 0;
	const listeners = [
		listen(TOPOLOGY_CHANNELS.topology, ({ path, state, version, error }) => {
			const fields = { path, version, reason: reasonIn(error) };
			if (state === "loaded") log.info(fields, "topology loaded");
			else if (state === "rejected") log.error(fields, "topology rejected");
			else if (state === "unreachable")
				log.warn(fields, "topology store unreachable");
			else log.warn(fields, "topology copy not saved");
		}),
		listen(STORAGE_CHANNELS.heldShards, ({ state, shards, missing, error }) => {
			const held = { count: shards.length, shards: shards.slice(0, 20) };
			if (state === "open") {
				log.info(held, "shards open");
				return;
			}
			const fields =
				error === undefined
					? {
							missing: missing.length,
							tables: missing.slice(0, NAMED_TABLES),
							create: CREATE_TABLES,
						}
					: { reason: reasonIn(error) };
			log.error({ ...held, ...fields }, "shards held");
		}),
		listen(WORKER_CHANNELS.jobEnded, ({ id, outcome, error }) => {
			if (outcome !== "failed") return;
			log.error({ job: id, reason: reasonIn(error) }, "job failed");
		}),
		listen(SERVER_CHANNELS.token, ({ kind, code, reason }) => {
			if (!failures.isDue(`token ${kind} ${code}`)) return;
			if (kind === "refused") log.info({ code, reason }, "token refused");
			else {
				const used = kind === "keysKept";
				log.warn({ code, reason, used }, "keys of tokens not fetched");
			}
		}),
		listen(CACHE_CHANNELS.cacheHost, ({ layer, host, state, error }) => {
			const fields = { layer, host, reason: reasonIn(error) };
			if (state === "down") log.warn(fields, "cache host down");
			else if (state === "unread") log.warn(fields, "cache host not read");
			else log.info(fields, "cache host up");
		}),
		listen(CACHE_CHANNELS.cacheRefusal, ({ layer, host, verb, error }) => {
			const fields = { layer, host, verb, reason: reasonOf(error) };
			log.warn(fields, "cache call refused");
		}),
		...databaseEvents(log, failures),
		listen(STORAGE_CHANNELS.standby, ({ event, host, standby, reason }) => {
			const fields = { host, standby, reason };
			if (event === "switchToStandby") {
				log.warn(fields, "feeds read from standby");
			} else if (event === "switchToPrimary") {
				log.info(fields, "feeds read from primary");
			}
		}),
		listen(FRESHNESS_CHANNELS.unreadOutboxes, ({ shards }) => {
			const fields = { count: shards.length, shards: shards.slice(0, 20) };
			if (shards.length > 0) log.warn(fields, "outboxes not read");
			else log.info("outboxes read again");
		}),
		listen(TRACE_CHANNELS.spansLost, ({ spans, error }) => {
			spansLost += spans;
			if (!failures.isDue("spans")) return;
			log.warn(
				{ spans: spansLost, reason: reasonIn(error) },
				"traces not exported",
			);
			spansLost = 0;
		}),
		listen(
			OUTBOX_CHANNELS.deliveryPass,
			({ delivered, undelivered, unreadable, error }) => {
				if (unreadable > 0) {
					log.error({ unreadable }, "outbox entries unreadable");
				}
				if (error === undefined) {
					log.info({ delivered }, "outbox entries delivered");
					return;
				}
				const reason = reasonIn(error);
				if (!failures.isDue(`${reason}`)) return;
				const fields = { delivered, undelivered, reason };
				log.warn(fields, "outbox entries not delivered");
			},
		),
		listen(WORKER_CHANNELS.workerProblem, ({ kind, error }) => {
			if (kind !== "renewals") return;
			if (error === null) log.info("claims renewed again");
			else if (failures.isDue("renewals")) {
				log.error({ reason: reasonIn(error) }, "claims not renewed");
			}
		}),
		listen(QUEUE_CHANNELS.queueRotation, (did) => {
			if (did.kind !== "round") return;
			const { queue, shard, host, refused, refusedForMs, error } = did;
			const place = { queue, shard, host };
			if (error !== undefined) {
				if (!failures.isDue(`rotation ${queue} ${shard}`)) return;
				log.warn({ ...place, reason: reasonIn(error) }, "rotation failed");
			} else if (refused !== null && refusedForMs >= REFUSED_WARNING_MS) {
				const hours = Math.floor(refusedForMs / 3_600_000);
				log.warn({ ...place, hours, reason: refused }, "rotation refused");
			}
		}),
	];
	return {
		[Symbol.dispose]() {
			for (const listener of listeners) listener[Symbol.dispose]();
		},
	};
}

function databaseEvents(log: Log, failures: Repeated) {
	const wrongClocks = new Set<string>();
	return [
		listen(TOPOLOGY_CHANNELS.databaseHost, ({ host, state, error }) => {
			const fields = { host, reason: reasonIn(error) };
			if (state === "down") log.error(fields, "database host down");
			else if (state === "up") log.info({ host }, "database host up");
			else if (!hasConnections(host)) {
				log.info({ host }, "database host removed");
			}
		}),
		listen(TOPOLOGY_CHANNELS.databaseClock, (clock) => {
			const { host } = clock;
			const seconds = sureSeconds(clock);
			const differs = Math.abs(seconds) >= CLOCK_SECONDS;
			if (differs === wrongClocks.has(host)) return;
			if (differs) {
				wrongClocks.add(host);
				log.warn({ host, seconds }, "database clock differs");
			} else if (seconds === 0) {
				wrongClocks.delete(host);
				log.info({ host }, "database clock agrees");
			}
		}),
		listen(STORAGE_CHANNELS.databaseServer, (message) => {
			log.warn(message, "database server changed");
		}),
		listen(FRESHNESS_CHANNELS.cacheAgreement, ({ differs, ...fields }) => {
			if (differs)
				log.warn(fields, "shared caches are others than the fleet's");
			else log.info(fields, "shared caches are those of the fleet");
		}),
		listen(TOPOLOGY_CHANNELS.databaseLoss, ({ state, ...fields }) => {
			if (state === "over") log.info(fields, "database writes go on");
			else log.error(fields, "database writes stopped");
		}),
		listen(STORAGE_CHANNELS.databaseFailure, ({ host, kind }) => {
			if (kind !== "diskFull" || !failures.isDue(`disk ${host}`)) return;
			log.error({ host }, "disk full");
		}),
	];
}

/** Lets one of several equal lines pass each minute: a host that is away for hours would fill the log. */
class Repeated {
	readonly #loggedAt = new Map<string, number>();

	isDue(line: string): boolean {
		const now = performance.now();
		const at = this.#loggedAt.get(line) ?? Number.NEGATIVE_INFINITY;
		if (now - at < REPEAT_MS) return false;
		if (this.#loggedAt.size >= MAX_LINES) this.#loggedAt.clear();
		this.#loggedAt.set(line, now);
		return true;
	}
}

const REPEAT_MS = 60_000;
const MAX_LINES = 100;

/** The message only: a stack of our code does not help an operator. */
function reasonIn(error: unknown): string | undefined {
	return error === null || error === undefined ? undefined : reasonOf(error);
}

/** Whether a topology in use has the host. */
function hasConnections(host: string): boolean {
	return POOL_LEVELS.read().some((level) => level.host === host);
}
