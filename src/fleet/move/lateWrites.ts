import type { FleetServer } from "../server/fleetServer.ts";

/**
 * Transactions that came to a former copy after it was left: between the lifting of
 * its fence and its renaming lie some milliseconds, in which a process that had
 * stood still since before the flip could write there.
 */
export async function lateTransactions(
	_server: FleetServer,
	_databases: readonly string[],
	_left: string,
): Promise<readonly string[]> {
	return [];
}
