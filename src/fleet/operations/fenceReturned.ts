import { readCurrent } from "../../topology/history.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import { findPromoted, namesHost } from "../map/promotionHosts.ts";
import { FleetServer } from "../server/fleetServer.ts";
import type { OperationRecord } from "./operationRecord.ts";

/** How long a server may take to answer that most likely does not. Milliseconds. */
const TRY_MS = 1_500;

/**
 * Fences the old primaries that are back after `hosts promote --dead`, so that nobody
 * writes to them, and returns their names. One that the map names again is left
 * as it is, and so is one whose successor the map does not name any more. Throws UNAVAILABLE if the store does not answer.
 */
export async function fenceReturned(
	{
		store,
		environment,
	}: { readonly store: TopologyStore; readonly environment: Environment },
	records: readonly OperationRecord[],
): Promise<readonly string[]> {
	const topology = (await readCurrent(store))?.topology;
	if (topology === undefined) return [];
	const urls = new Map<string, string>();
	for (const { kind, step, from, to } of records) {
		if (kind !== "promote --dead" || step !== "done") continue;
		// Another operation of the map may have taken the new one's place since.
		const hosts = findPromoted(topology, { from, to });
		if (hosts !== null && !namesHost(topology, from)) {
			urls.set(from, hosts.fromUrl);
		}
	}
	const fenced = await Promise.all(
		[...urls].map(async ([name, url]) => {
			try {
				await using server = new FleetServer(url, environment);
				if ((await server.silence(TRY_MS)) !== null) return [];
				if (await server.isFenced()) return [];
				await server.fence();
				return [name];
			} catch {
				// The next look tries again.
				return [];
			}
		}),
	);
	return fenced.flat();
}
