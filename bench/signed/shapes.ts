import { seededRandom } from "../../src/util/random.ts";
import { snapshot } from "../measure.ts";
import { drawZipf } from "../pools.ts";
import type { QueryName } from "../queries.ts";
import { residentMb } from "../usage.ts";
import type { World } from "../world.ts";
import type { Cursors } from "./cursors.ts";
import type { ShapeName } from "./documents.ts";
import type { Measured } from "./measure.ts";
import { type Asked, type Contender, spell, type Viewer } from "./systems.ts";

const NODES = 50;

/** What shapes are drawn from. */
export interface ShapeDraw {
	readonly viewers: readonly Viewer[];
	readonly isSigned: boolean;
	readonly cursors: Cursors;
	readonly count: number;
	readonly seed: number;
}

/** Requests of one shape, on keys by Zipf's law; pages in the middle of lists are other ones each time. */
export function drawShape(
	world: World,
	name: ShapeName,
	{ viewers, isSigned, cursors, count, seed }: ShapeDraw,
): readonly Asked[] {
	const random = seededRandom(seed);
	const rows = (query: QueryName, size: number) => {
		const { ids } = world.pools[query];
		return Array.from(
			drawZipf(ids.length, size, seed),
			(n) => ids[n] as number,
		);
	};
	const keys = (query: QueryName, letter: string) =>
		rows(query, count).map((row) => `${letter}:${row}`);
	const all = (variables: readonly Asked["variables"][]) =>
		variables.map((one): Asked => {
			const viewer = random.pick(viewers);
			return {
				name,
				isWrite: false,
				variables: one,
				viewer: isSigned ? viewer : null,
			};
		});
	switch (name) {
		case "likers":
			return all(
				keys("q2", "b").map((key) => ({ id }) => ({ id: id(key) })),
			);
		case "follows":
			return all(
				keys("q4", "u").map((key) => ({ id }) => ({ id: id(key) })),
			);
		case "viewer":
			return all(Array.from({ length: count }, () => () => ({})));
		case "middle":
			return all(
				cursors.take(count).map((page) => ({ id, system }) => ({
					id: id(`b:${page.board}`),
					after: cursors.of(system, page),
				})),
			);
		case "nodes": {
			const drawn = rows("q1", count * NODES * 2);
			const sets = Array.from({ length: count }, (_, n) => {
				const from = n * NODES * 2;
				const some = new Set(drawn.slice(from, from + NODES * 2));
				return [...some].slice(0, NODES);
			});
			return all(
				sets.map((pins) => ({ globalId }) => ({
					ids: pins.map((pin) => globalId(`p:${pin}`)),
				})),
			);
		}
	}
}

/** In a closed loop, each request once at most. */
export async function measureShape(
	world: World,
	contender: Contender,
	asked: readonly Asked[],
	{
		seconds,
		connections,
	}: { readonly seconds: number; readonly connections: number },
): Promise<Measured> {
	const { system } = contender;
	const { port, pid } = system.server;
	const before = snapshot(world, system.variant, pid);
	const result = await world.loader.send({
		port,
		set: "shapes",
		requests: asked.map((one) => spell(world, contender, one)),
		order: Uint32Array.from(asked, (_, n) => n),
		from: 0,
		connections,
		ms: seconds * 1_000,
		most: asked.length,
	});
	const after = snapshot(world, system.variant, pid);
	const count = Math.max(1, result.requests);
	return {
		cpu: (after.server - before.server) / count,
		databaseCpu: (after.databases - before.databases) / count,
		perSecond: result.requests / result.seconds,
		reads: { p50: result.p50, p99: result.p99 },
		writes: { p50: 0, p99: 0 },
		residentMb: residentMb(pid),
		refused: 0,
		failed: result.errors,
		firstError: result.firstError,
	};
}
