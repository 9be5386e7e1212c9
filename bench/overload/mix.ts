import { type Random, seededRandom } from "../../src/util/random.ts";
import { drawZipf } from "../pools.ts";
import { QUERY_NAMES, type QueryName, textOf } from "../queries.ts";
import { signToken, spellRequest } from "../requests.ts";
import type { World } from "../world.ts";

/** Shares of all requests. */
export interface Mix {
	readonly writes: number;
	/** Reads that send a document by its id. */
	readonly known: number;
	/** Reads that send a text which is never sent twice. */
	readonly unseen: number;
}

/** What viewers ask for. */
export const MIXES = {
	usual: { writes: 0.05, known: 0.6, unseen: 0.03 },
	/** Every other request changes something. */
	writes: { writes: 0.5, known: 0.6, unseen: 0.03 },
	/** No text was sent before. */
	unknown: { writes: 0.05, known: 0, unseen: 0.95 },
} as const satisfies Readonly<Record<string, Mix>>;
export type MixName = keyof typeof MIXES;

export const WRITES = {
	comment:
		"mutation Comment($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }",
	follow:
		"mutation Follow($input: FollowBoardInput!) { followBoard(input: $input) { board { id } } }",
	unfollow:
		"mutation Unfollow($input: UnfollowBoardInput!) { unfollowBoard(input: $input) { board { id } } }",
	update:
		"mutation Update($input: UpdatePinInput!) { updatePin(input: $input) { pin { id details } } }",
} as const;

const READ_SHARES: Readonly<Record<QueryName, number>> = {
	q1: 0.45,
	q2: 0.25,
	q3: 0.15,
	q4: 0.15,
};
const PREFIX: Readonly<Record<QueryName, string>> = {
	q1: "p",
	q2: "b",
	q3: "u",
	q4: "u",
};

export interface Viewer {
	/** Null for an anonymous one, who writes nothing. */
	readonly token: string | null;
	/** Numbers of pins on boards of theirs. */
	readonly pins: readonly number[];
}

/** Users with pins, as many as are wanted. */
export async function viewersOf(
	{ graph, idOf }: World,
	count: number,
): Promise<readonly Viewer[]> {
	const pins = new Map<number, number[]>();
	for (const [n, { board }] of graph.pins.entries()) {
		const owner = graph.boards[board]?.owner;
		if (owner === undefined) continue;
		const own = pins.get(owner);
		if (own === undefined) pins.set(owner, [n + 1]);
		else own.push(n + 1);
	}
	return Promise.all(
		[...pins].slice(0, count).map(async ([owner, own]) => ({
			token: await signToken(idOf("known", `u:${owner + 1}`)),
			pins: own,
		})),
	);
}

/** Requests of signed-in viewers on skewed keys, by a seed. */
export function requestsOf(
	world: World,
	{
		viewers,
		mix,
		count,
		seed,
	}: {
		readonly viewers: readonly Viewer[];
		readonly mix: Mix;
		readonly count: number;
		readonly seed: number;
	},
): readonly string[] {
	const random = seededRandom(seed);
	const keys = Object.fromEntries(
		QUERY_NAMES.map((name, n) => [
			name,
			drawZipf(world.pools[name].ids.length, count, seed + n),
		]),
	) as Record<QueryName, Uint32Array>;
	const idOf = (name: QueryName, n: number) => {
		const { ids } = world.pools[name];
		return world.idOf(
			"known",
			`${PREFIX[name]}:${ids[keys[name][n] as number]}`,
		);
	};
	return Array.from({ length: count }, (_, n) => {
		const viewer = random.pick(viewers);
		const token = viewer.token === null ? {} : { token: viewer.token };
		if (random.chance(mix.writes)) {
			const [text, input] = drawWrite(random, viewer, {
				pin: idOf("q1", n),
				board: idOf("q2", n),
				own: world.idOf("known", `p:${random.pick(viewer.pins)}`),
				n,
			});
			return spellRequest({ text, variables: { input } }, "known", token);
		}
		const name = drawQuery(random);
		const text = textOf("corkboard", name);
		const variables = { id: idOf(name, n) };
		const draw = random.fraction();
		if (draw < mix.known) {
			return spellRequest({ text, variables }, "known", token);
		}
		// The first is the same each time, and in no file; the second is never sent twice.
		const spelled =
			draw < 1 - mix.unseen
				? `${text} # sent as a text`
				: text.replace("{", `{ of${seed}n${n}: __typename `);
		return spellRequest({ text: spelled, variables }, "text", token);
	});
}

function drawWrite(
	random: Random,
	_viewer: Viewer,
	{
		pin,
		board,
		own,
		n,
	}: {
		readonly pin: string;
		readonly board: string;
		readonly own: string;
		readonly n: number;
	},
): readonly [text: string, input: Readonly<Record<string, unknown>>] {
	const draw = random.fraction();
	if (draw < 0.4) return [WRITES.comment, { pinId: pin, text: `Number ${n}` }];
	if (draw < 0.6) return [WRITES.follow, { boardId: board }];
	if (draw < 0.8) return [WRITES.unfollow, { boardId: board }];
	return [WRITES.update, { pinId: own, details: `Number ${n}` }];
}

function drawQuery(random: Random): QueryName {
	let left = random.fraction();
	for (const name of QUERY_NAMES) {
		left -= READ_SHARES[name];
		if (left <= 0) return name;
	}
	return "q1";
}
