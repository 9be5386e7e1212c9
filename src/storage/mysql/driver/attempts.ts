import { setTimeout as sleep } from "node:timers/promises";
import { publishRetry } from "../../diagnostics.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { MysqlConnection } from "./mysqlConnection.ts";
import type { Pool } from "./pool.ts";
import type { QueryOptions } from "./queryOptions.ts";
import { recordNoConnection } from "./roundTripSpan.ts";
import { conflictReason, isOfOneDatabase } from "./toStorageFailure.ts";

/** An idle connection is there at once. */
const WAITED_MS = 1;
const CONFLICT_TRIES = 6;
const BACKOFF_MS = 8;

/** Retries after a deadlock or a lock wait timeout, with jitter so that the transactions do not meet again. */
export async function retried<T>(
	{ deadline, trace, isTriedOnce = false }: QueryOptions,
	attempt: () => Promise<T>,
): Promise<T> {
	for (let tries = 1; ; tries += 1) {
		try {
			return await attempt();
		} catch (thrown) {
			const again =
				thrown instanceof StorageFailure &&
				thrown.kind === "conflict" &&
				!isTriedOnce &&
				tries < CONFLICT_TRIES &&
				performance.now() < deadline.until;
			if (!again) throw thrown;
			const reason = conflictReason(thrown);
			trace?.retry?.(reason);
			publishRetry({ host: thrown.host, reason });
			await sleep(Math.random() * BACKOFF_MS * 2 ** tries);
		}
	}
}

/** Nothing was sent while a connection is opened, so this may be repeated. */
export function refusesWrites(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.kind === "readOnly";
}

/** Not this process, and not one database that an operator made read-only. */
export function isFromReadOnlyServer(thrown: unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return false;
	if (thrown.kind === "unknownOutcome") {
		return isFromReadOnlyServer(thrown.cause);
	}
	return (
		thrown.kind === "readOnly" &&
		thrown.errno !== null &&
		!isOfOneDatabase(thrown)
	);
}

export async function acquire(
	pool: Pool,
	{ deadline, trace, isPatient = false }: QueryOptions,
	host: string,
): Promise<MysqlConnection> {
	const askedAt = performance.now();
	for (;;) {
		try {
			const connection = await pool.acquire(deadline);
			const waitedMs = performance.now() - askedAt;
			connection.waitedMs = waitedMs > WAITED_MS ? waitedMs : 0;
			return connection;
		} catch (thrown) {
			const again =
				isPatient &&
				thrown instanceof StorageFailure &&
				thrown.kind === "timeout" &&
				performance.now() < deadline.until;
			if (again) continue;
			if (trace?.span) recordNoConnection(trace.span, host, askedAt, thrown);
			throw thrown;
		}
	}
}

export async function lendOnce<T>(
	pool: Pool,
	connection: MysqlConnection,
	use: (connection: MysqlConnection) => Promise<T>,
): Promise<T> {
	try {
		return await use(connection);
	} finally {
		pool.release(connection);
	}
}

export function isRepeatable(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.kind === "connectionLost";
}

/** ER_CLIENT_INTERACTION_TIMEOUT, of MySQL only. */
export function isClientTimeout(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.errno === 4031;
}
