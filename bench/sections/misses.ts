import { ask } from "../../test/services/ask.ts";
import type { Cell } from "../cell.ts";
import { fleetOf } from "../databases.ts";
import { measure, sendLoad } from "../measure.ts";
import { QUERY_NAMES, type QueryName } from "../queries.ts";
import { VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";
import { CONNECTIONS, firstOf, type Reads, rotated } from "./reads.ts";

/** In which every key is asked for once. */
const FILL_LIMIT_S = 180;
/** Before a measurement, for a server that stood idle while the others had their turns. */
const LEAD_SHARE = 0.25;
/** Draws between the starts of two rounds: each begins where no other did. */
const ROUND_STEP = 7_919;

/**
 * Every key equally often: what the process keeps is a small part of what is
 * asked for. Before the first round the shared caches are filled with all of it.
 */
export async function* missesRound(
	world: World,
	reads: Reads,
	round: number,
	variants: readonly VariantName[],
	signal: AbortSignal,
): AsyncGenerator<Cell> {
	const { seconds } = world.options;
	for (const variant of round > 0 ? [] : variants) {
		for (const question of QUERY_NAMES) {
			signal.throwIfAborted();
			await fill(world, reads, variant, question);
		}
	}
	for (const question of QUERY_NAMES) {
		for (const variant of rotated(variants, round)) {
			signal.throwIfAborted();
			const load = {
				...(await reads.loadOf(variant, question, "uniform")),
				connections: CONNECTIONS,
			};
			const { port } = await world.serverOf(variant);
			const from = round * ROUND_STEP;
			const lead = await sendLoad(world, port, {
				...load,
				from,
				seconds: seconds * LEAD_SHARE,
			});
			const run = () =>
				measure(world, {
					...load,
					from: from + lead.requests,
					section: "misses",
					round,
					variant,
					question,
					seconds,
				});
			yield hasSharedCaches(variant)
				? await withKeysAsked(world, run)
				: await run();
		}
	}
}

/** Servers without shared caches have code to compile, and no more. */
async function fill(
	world: World,
	reads: Reads,
	variant: VariantName,
	question: QueryName,
): Promise<void> {
	const load = await reads.loadOf(variant, question, "uniform");
	const { port } = await world.serverOf(variant);
	const { ids } = world.pools[question];
	await sendLoad(world, port, {
		...load,
		connections: CONNECTIONS,
		...(hasSharedCaches(variant)
			? {
					order: firstOf(ids.length, ids.length),
					from: 0,
					seconds: FILL_LIMIT_S,
					most: ids.length,
				}
			: { seconds: world.options.seconds }),
	});
}

function hasSharedCaches(variant: VariantName): boolean {
	const { server } = VARIANTS[variant];
	return server.kind === "corkboard" && server.store === "missed";
}

/** How many keys a request asked memcached for: a cell without misses is not taken for one with them. */
async function withKeysAsked(
	world: World,
	run: () => Promise<Cell>,
): Promise<Cell> {
	const before = await keysAsked(world);
	const cell = await run();
	const after = await keysAsked(world);
	const per = (name: keyof typeof after) =>
		(after[name] - before[name]) / Math.max(1, cell.requests);
	return {
		...cell,
		figures: {
			"memcached hits": per("hits"),
			"memcached misses": per("misses"),
		},
	};
}

async function keysAsked(
	world: World,
): Promise<{ readonly hits: number; readonly misses: number }> {
	const { host, port } = fleetOf(world.databases).memcached;
	const text = await ask({ host, port }, "stats", /END\r\n$/);
	const stat = (name: string) =>
		Number(new RegExp(`STAT ${name} (\\d+)`).exec(text)?.[1] ?? 0);
	return { hits: stat("get_hits"), misses: stat("get_misses") };
}
