import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "../cell.ts";
import { fleetOf } from "../databases.ts";
import { measure } from "../measure.ts";
import { QUERY_NAMES } from "../queries.ts";
import { VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { CONNECTIONS, firstOf, type Reads } from "./reads.ts";

/** Until a server has noticed that its Redis was gone and is back, and reads from its own cache again. */
const SETTLE_MS = 3_000;
const READY_LIMIT_MS = 30_000;

/**
 * Reads of keys that no cache has: memcached and Redis are started anew, which
 * also empties the cache in the process, because it may have missed
 * invalidations meanwhile. Each key is asked for once.
 */
export async function* coldRound(
	world: World,
	reads: Reads,
	round: number,
	variants: readonly VariantName[],
	signal: AbortSignal,
): AsyncGenerator<Cell> {
	for (const question of QUERY_NAMES) {
		for (const variant of variants) {
			signal.throwIfAborted();
			if (VARIANTS[variant].server.kind === "corkboard") {
				await emptyCaches(world, variant);
			}
			const { ids } = world.pools[question];
			const load = await reads.loadOf(variant, question);
			yield await measure(world, {
				...load,
				order: firstOf(ids.length, ids.length),
				from: 0,
				section: "cold",
				round,
				variant,
				question,
				connections: CONNECTIONS,
				seconds: world.options.seconds,
				most: ids.length,
			});
		}
	}
}

async function emptyCaches(world: World, variant: VariantName): Promise<void> {
	const { memcached, redis } = fleetOf(world.databases);
	await Promise.all([memcached.restart(), redis.restart()]);
	await sleep(SETTLE_MS);
	const { port } = await world.serverOf(variant);
	const deadline = performance.now() + READY_LIMIT_MS;
	while (performance.now() < deadline) {
		const response = await fetch(`http://127.0.0.1:${port}/health/ready`, {
			signal: AbortSignal.timeout(READY_LIMIT_MS),
		});
		await response.arrayBuffer();
		if (response.ok) return;
		await sleep(100);
	}
	throw new Error(
		`${VARIANTS[variant].title} was not ready ${READY_LIMIT_MS / 1_000} s after its caches were back.`,
	);
}
