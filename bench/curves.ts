import type { Cell } from "./cell.ts";
import { type Graph, generateGraph } from "./graph/generate.ts";
import { measure, sendLoad } from "./measure.ts";
import type { Options } from "./options.ts";
import type { Progress } from "./progress.ts";
import { type QueryName, textOf } from "./queries.ts";
import { spellRequest } from "./requests.ts";
import { CONNECTIONS, firstOf } from "./sections/reads.ts";
import { VARIANTS, type VariantName } from "./variants.ts";
import { createWorld, type World } from "./world.ts";

/** With all caches but that of whole answers, and without any. */
export const CURVE_ROWS: readonly VariantName[] = ["executed", "mysql"];
const LENGTHS = [10, 100, 1_000, 10_000];
const DEPTHS = [1, 2, 3, 4, 5, 6];
const SHARDS = [8, 32, 128, 512];
const SCALES = [0.1, 1, 3];
/** Items of each of the nested lists. */
const WIDTH = 3;
const WARM_SECONDS = 2;
/** How often the same is measured: the median counts. */
const ROUNDS = 3;

const LENGTH_TEXT =
	"query Length($id: ID!) { board(id: $id) { pins(first: 20) { nodes { id details } pageInfo { hasNextPage endCursor } } } }";

/** What a curve is drawn over: `x`, and the rows that a request asks for. */
export interface CurvePoint {
	readonly curve: "length" | "depth" | "shards" | "graph";
	readonly x: number;
	readonly rows: number;
	readonly cell: Cell;
}

/** Measures how the cost of a request grows with what is stored and what is asked for. */
export async function* measureCurves(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): AsyncGenerator<CurvePoint> {
	yield* shapes(options, progress, signal);
	for (const shards of SHARDS) {
		yield* wholeQueries(
			{ ...options, shards },
			"shards",
			shards,
			progress,
			signal,
		);
	}
	for (const factor of SCALES) {
		const scale = options.scale * factor;
		yield* wholeQueries(
			{ ...options, scale },
			"graph",
			factor,
			progress,
			signal,
		);
	}
}

/** Longer lists, of which a page of 20 is read, and deeper queries. */
async function* shapes(
	options: Options,
	progress: Progress,
	signal: AbortSignal,
): AsyncGenerator<CurvePoint> {
	progress.say("lists of 10 to 10,000 pins, and queries of 1 to 6 levels");
	const { graph, boards } = withLists(
		generateGraph(options.scale, options.seed),
	);
	const texts = DEPTHS.map(depthText);
	await using world = await createWorld(
		{
			...options,
			variants: CURVE_ROWS,
			documents: [LENGTH_TEXT, ...texts],
		},
		(text) => progress.say(text),
		signal,
		{ graph },
	);
	const followers = mostFollowing(graph);
	for (const variant of CURVE_ROWS) {
		for (const [n, length] of LENGTHS.entries()) {
			const id = world.idOf(variant, `b:${(boards[n] as number) + 1}`);
			const cell = await measureOne(world, variant, `length ${length}`, [
				spellRequest({ text: LENGTH_TEXT, variables: { id } }, wayOf(variant)),
			]);
			progress.cell(cell);
			yield { curve: "length", x: length, rows: Math.min(20, length), cell };
		}
		for (const [n, depth] of DEPTHS.entries()) {
			signal.throwIfAborted();
			const text = texts[n] as string;
			const requests = followers.map((user) =>
				spellRequest(
					{ text, variables: { id: world.idOf(variant, `u:${user + 1}`) } },
					wayOf(variant),
				),
			);
			const cell = await measureOne(world, variant, `depth ${depth}`, requests);
			progress.cell(cell);
			const rows = DEPTHS.slice(0, n + 1).reduce(
				(sum, level) => sum + WIDTH ** level,
				0,
			);
			yield { curve: "depth", x: depth, rows, cell };
		}
	}
}

/** Q1 to Q4 on more shards, or a larger graph: they ask for the same rows. */
async function* wholeQueries(
	options: Options,
	curve: "shards" | "graph",
	x: number,
	progress: Progress,
	signal: AbortSignal,
): AsyncGenerator<CurvePoint> {
	progress.say(curve === "shards" ? `${x} shards` : `the graph × ${x}`);
	await using world = await createWorld(
		{ ...options, variants: CURVE_ROWS },
		(text) => progress.say(text),
		signal,
	);
	for (const variant of CURVE_ROWS) {
		for (const query of ["q2", "q3"] as const satisfies readonly QueryName[]) {
			signal.throwIfAborted();
			const text = textOf("corkboard", query);
			const letter = query === "q2" ? "b" : "u";
			const requests = world.pools[query].ids.slice(0, 200).map((row) =>
				spellRequest(
					{
						text,
						variables: { id: world.idOf(variant, `${letter}:${row}`) },
					},
					wayOf(variant),
				),
			);
			const cell = await measureOne(
				world,
				variant,
				`${query} ${curve} ${x}`,
				requests,
			);
			progress.cell(cell);
			yield { curve, x, rows: 1, cell };
		}
	}
}

/** The median of some rounds, on a server that is warm. */
async function measureOne(
	world: World,
	variant: VariantName,
	question: string,
	requests: readonly string[],
): Promise<Cell> {
	const { port } = await world.serverOf(variant);
	const load = {
		set: `${variant} ${question}`,
		requests,
		order: firstOf(requests.length, requests.length),
		from: 0,
		connections: CONNECTIONS,
	};
	await sendLoad(world, port, { ...load, seconds: WARM_SECONDS });
	const cells: Cell[] = [];
	for (let round = 0; round < ROUNDS; round++) {
		cells.push(
			await measure(world, {
				...load,
				section: "curves",
				round,
				variant,
				question,
				seconds: world.options.seconds,
			}),
		);
	}
	return cells.toSorted((a, b) => a.cpuMs - b.cpuMs)[ROUNDS >> 1] as Cell;
}

function wayOf(variant: VariantName) {
	// Without the parser's part, which is the same at every point.
	return VARIANTS[variant].way === "text" ? "known" : VARIANTS[variant].way;
}

/** Users who follow users who follow users: the first ones by number of followees. */
function mostFollowing({ follows }: Graph): readonly number[] {
	const counts = new Map<number, number>();
	for (const { from } of follows) counts.set(from, (counts.get(from) ?? 0) + 1);
	return [...counts]
		.toSorted(([, a], [, b]) => b - a)
		.slice(0, 30)
		.map(([user]) => user);
}

function depthText(depth: number): string {
	let inner = "id username";
	for (let level = 0; level < depth; level++) {
		inner = `username following(first: ${WIDTH}) { nodes { ${inner} } }`;
	}
	return `query Depth${depth}($id: ID!) { user(by: {id: $id}) { ${inner} } }`;
}

/** With one more user, who has a board of each length. */
function withLists(graph: Graph): {
	readonly graph: Graph;
	readonly boards: readonly number[];
} {
	const owner = graph.users.length;
	const boards = LENGTHS.map((_, n) => graph.boards.length + n);
	return {
		boards,
		graph: {
			...graph,
			users: [...graph.users, { username: "curves", bio: "Has long lists" }],
			boards: [
				...graph.boards,
				...LENGTHS.map((length) => ({
					owner,
					name: `${length} pins`,
					description: "For the curves",
				})),
			],
			pins: [
				...graph.pins,
				...LENGTHS.flatMap((length, n) =>
					Array.from({ length }, (_, k) => ({
						board: boards[n] as number,
						details: `Pin ${k} of ${length}`,
						link: `https://example.com/${length}/${k}`,
					})),
				),
			],
		},
	};
}
