import { demoGraph } from "../../pins/demo/graph.ts";
import { seededRandom } from "../../src/util/random.ts";
import type { Change, Line } from "./memory.ts";

/** The graph under test: imported lines, then changes. Always the same. */
export interface History {
	readonly lines: readonly Line[];
	readonly changes: readonly Change[];
}

/** For lines whose object has no createdAt; an import would set its start time. */
const CREATED = "2026-11-01T12:00:00.000Z";

type ObjectLine = Extract<Line, { key: string }>;
type EdgeLine = Extract<Line, { edge: string }>;

/**
 * The demo graph with additions: edges to hidden objects, and deleted and moved
 * objects.
 */
export function history(): History {
	const demo: readonly Line[] = [...demoGraph()];
	const random = seededRandom(7);
	const objects = demo.filter((line): line is ObjectLine => "type" in line);
	const edges = demo.filter((line): line is EdgeLine => "edge" in line);
	const ofType = (type: string) => objects.filter((line) => line.type === type);
	const users = ofType("User");
	const boards = ofType("Board");
	const pins = ofType("Pin");
	const secret = boards.filter(({ fields }) => fields.secret === true);
	const secretKeys = new Set(secret.map(({ key }) => key));
	const hidden = pins.filter(({ fields }) =>
		secretKeys.has(String(fields.board)),
	);
	const open = pins.filter(
		({ fields }) => !secretKeys.has(String(fields.board)),
	);

	const lines: Line[] = [...demo];
	for (const pin of hidden.slice(0, 60)) {
		const user = random.pickPopular(users, 2);
		lines.push({ edge: "likePin", from: user.key, to: pin.key });
		lines.push({ edge: "filePin", from: pin.key, to: "demo:interest:baking" });
	}
	for (const board of secret) {
		const user = random.pickPopular(users, 2);
		lines.push({ edge: "followBoard", from: user.key, to: board.key });
	}
	for (const [n, board] of secret.entries()) {
		// Some owners of secret boards, who are viewers, collaborate on other ones.
		const other = secret[(n + 1) % secret.length] as ObjectLine;
		if (n % 2 === 1 || other.fields.owner === board.fields.owner) continue;
		const to = String(other.fields.owner);
		lines.push({ edge: "collaborate", from: board.key, to });
	}
	for (const [n, pin] of hidden.slice(0, 30).entries()) {
		lines.push({
			type: "Comment",
			key: `hidden:comment:${n}`,
			fields: {
				author: random.pick(users).key,
				pin: pin.key,
				text: "hidden",
				createdAt: CREATED,
			},
		});
		lines.push({
			type: "Pin",
			key: `hidden:repin:${n}`,
			fields: {
				board: random.pick(boards).key,
				origin: pin.key,
				createdAt: CREATED,
			},
		});
	}
	for (const board of secret) {
		// Somebody else's pin on it, saved from one that is saved again below.
		const others = users.find(({ key }) => key !== board.fields.owner);
		for (const [n, origin] of open.slice(0, 3).entries()) {
			const to = boards.filter(
				({ fields }) => fields.owner === board.fields.owner,
			);
			// More than are shown of the first one, and some on boards that are removed.
			for (let copy = 0; copy < (n === 0 ? 12 : n); copy++) {
				lines.push({
					type: "Pin",
					key: `saved:${board.key}:${n}:${copy}`,
					fields: {
						board: (to[copy % to.length] as ObjectLine).key,
						origin: origin.key,
						createdAt: `2026-11-${String(10 + (copy % 5))}T12:00:00.000Z`,
						...(copy === 1 && { owner: others?.key as string }),
					},
				});
			}
		}
	}
	lines.push({
		type: "User",
		key: "bare:user",
		fields: { username: "Bare_User", name: "Bare", createdAt: CREATED },
	});

	const changes: Change[] = [];
	const liked = edges.filter(({ edge }) => edge === "likePin");
	const removed = new Set<string>();
	const remove = (key: string) => {
		if (!removed.has(key)) changes.push({ remove: key });
		removed.add(key);
	};
	for (let n = 0; n < 30; n++) remove(random.pick(liked).to);
	for (let n = 0; n < 12; n++) remove(random.pick(boards).key);
	for (let n = 0; n < 20; n++) remove(random.pick(ofType("Comment")).key);
	for (const { edge, from, to } of random.shuffled(edges).slice(0, 40)) {
		if (edge !== "filePin") changes.push({ unset: edge, from, to });
	}
	for (const pin of random.shuffled(open).slice(0, 40)) {
		if (removed.has(pin.key) || removed.has(String(pin.fields.board))) continue;
		const others = open.filter(
			(other) =>
				other !== pin &&
				other.fields.board === pin.fields.board &&
				!removed.has(other.key),
		);
		const on = String(pin.fields.board);
		// Each pin moves within its board, so a moved neighbor is still on that board.
		changes.push(
			others.length > 0 && random.chance(0.7)
				? { place: pin.key, on, before: random.pick(others).key }
				: { place: pin.key, on },
		);
	}
	return { lines, changes };
}
