import { askOnce, normalized } from "../checkAnswers.ts";
import { QUERY_NAMES } from "../queries.ts";
import type { World } from "../world.ts";
import { createPin, followUser, likePin, updatePin } from "./blend.ts";
import type { Cursors } from "./cursors.ts";
import { type CheckName, SHAPE_NAMES } from "./documents.ts";
import { drawShape } from "./shapes.ts";
import { type Asked, type Contender, spell, type Viewer } from "./systems.ts";

const KEYS = 10;
const LETTER = { q1: "p", q2: "b", q3: "u", q4: "u" } as const;

export interface Agreement {
	readonly viewers: readonly Viewer[];
	/** Null: shapes are not measured. */
	readonly cursors: Cursors | null;
	readonly seed: number;
}

/** Asks all the same, writes the same, and throws if answers differ. Returns how many were compared. */
export async function checkAgreement(
	world: World,
	contenders: readonly Contender[],
	{ viewers, cursors, seed }: Agreement,
): Promise<number> {
	let compared = 0;
	const compare = async (asked: Asked, of: readonly Contender[]) => {
		compared += of.length - 1;
		await compareOne(world, of, asked);
	};
	const viewerAt = (n: number) => viewers[n % viewers.length] as Viewer;
	for (const name of QUERY_NAMES) {
		for (const [n, row] of world.pools[name].ids.slice(0, KEYS).entries()) {
			const asked = readOf(name, `${LETTER[name]}:${row}`);
			await compare(asked, contenders);
			await compare({ ...asked, viewer: viewerAt(n) }, contenders);
		}
	}
	if (cursors !== null) {
		const of = contenders.filter(
			({ system }) => system.flavor !== "postgraphile",
		);
		for (const name of SHAPE_NAMES) {
			for (const isSigned of [true, false]) {
				const draw = { viewers, isSigned, cursors, count: KEYS, seed };
				for (const asked of drawShape(world, name, draw)) {
					await compare(asked, of);
				}
			}
		}
	}
	for (const asked of await writeEach(world, contenders, viewerAt(0))) {
		await compare(asked, contenders);
	}
	return compared;
}

/** One write of each kind on all, and what to read then. */
async function writeEach(
	world: World,
	contenders: readonly Contender[],
	viewer: Viewer,
): Promise<readonly Asked[]> {
	const takens = new Set(contenders.map(({ system }) => system.taken));
	/** The first that is new in all databases. */
	const firstNew = (
		count: number,
		isNew: (of: Contender, row: number) => boolean,
	) => {
		for (let row = 1; row <= count; row++) {
			const of = [...takens].map((taken) =>
				contenders.find(({ system }) => system.taken === taken),
			) as readonly Contender[];
			if (of.map((one) => isNew(one, row)).every(Boolean)) return row;
		}
		throw new Error("Nothing is left to like or to follow.");
	};
	const { graph } = world;
	const pin = firstNew(graph.pins.length, ({ system }, row) =>
		system.taken.like(viewer.user, row),
	);
	const user = firstNew(graph.users.length, ({ system }, row) =>
		system.taken.follow(viewer.user, row),
	);
	const [own] = viewer.pins as readonly [number];
	const details = "Written before anything is measured";
	for (const contender of contenders) {
		for (const asked of [
			likePin(viewer, pin, 1),
			followUser(viewer, user, 2),
			createPin(viewer, details, 3),
			updatePin(viewer, own, details),
		]) {
			await askOf(world, contender, asked);
		}
	}
	return [
		readOf("pinAfter", `p:${pin}`),
		readOf("pinAfter", `p:${own}`),
		readOf("boardAfter", `b:${viewer.board}`),
		readOf("userAfter", `u:${viewer.user}`),
	];
}

function readOf(name: keyof typeof LETTER | CheckName, key: string): Asked {
	return {
		name,
		isWrite: false,
		viewer: null,
		variables: ({ id }) => ({ id: id(key) }),
	};
}

function askOf(
	world: World,
	contender: Contender,
	asked: Asked,
): Promise<string> {
	return askOnce(
		contender.system.server.port,
		spell(world, contender, asked),
		contender.title,
	);
}

async function compareOne(
	world: World,
	contenders: readonly Contender[],
	asked: Asked,
): Promise<void> {
	let first: { readonly title: string; readonly answer: string } | null = null;
	for (const contender of contenders) {
		const { title, system } = contender;
		const { data } = JSON.parse(await askOf(world, contender, asked)) as {
			readonly data: unknown;
		};
		const answer = JSON.stringify(
			normalized(data, (id) => world.keyOf(system.variant, id)),
		);
		first ??= { title, answer };
		if (first.answer !== answer) {
			throw new Error(
				`${title} and ${first.title} answer ${asked.name} differently:\n${answer.slice(0, 1_500)}\n${first.answer.slice(0, 1_500)}`,
			);
		}
	}
}
