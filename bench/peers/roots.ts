/** What Mercurius, Yoga and Apollo share besides connections: objects by global id, the viewer, what depends on the viewer, and the mutations. */
import type { Relational, Row, Table } from "./relational.ts";

export interface ViewerContext {
	readonly viewer: number | null;
}

/** Global ids are a letter and the number of a row: `p:17`. */
const KINDS: Readonly<Record<string, { table: Table; type: string }>> = {
	u: { table: "users", type: "User" },
	b: { table: "boards", type: "Board" },
	p: { table: "pins", type: "Pin" },
};

let lastSequence = 0;

/** A later write has the higher one, also among the servers of one database. */
function nextSequence(): number {
	lastSequence = Math.max(lastSequence + 1, Date.now() * 1_000);
	return lastSequence;
}

export async function viewerLikes(
	database: Relational,
	viewer: number | null,
	pins: readonly number[],
): Promise<(boolean | null)[]> {
	if (viewer === null) return pins.map(() => null);
	const liked = await database.liked(viewer, pins);
	return pins.map((pin) => liked.has(pin));
}

export async function viewerFollows(
	database: Relational,
	viewer: number | null,
	users: readonly number[],
): Promise<(boolean | null)[]> {
	if (viewer === null) return users.map(() => null);
	const followed = await database.followed(viewer, users);
	return users.map((user) => followed.has(user));
}

/** One statement for all objects of a type. */
async function nodesOf(
	database: Relational,
	ids: readonly string[],
): Promise<(Row | null)[]> {
	const found = new Map<string, Row>();
	const byKind = Map.groupBy(ids, (id) => id.charAt(0));
	await Promise.all(
		[...byKind].map(async ([letter, members]) => {
			const kind = KINDS[letter];
			if (kind === undefined) return;
			const numbers = members.map((id) => Number(id.slice(2)));
			const rows = await database.byIds(kind.table, numbers);
			for (const [n, row] of rows.entries()) {
				if (row === null) continue;
				found.set(members[n] as string, { ...row, __typename: kind.type });
			}
		}),
	);
	return ids.map((id) => found.get(id) ?? null);
}

function viewerOf({ viewer }: ViewerContext): number {
	if (viewer === null) throw new Error("Sign in first.");
	return viewer;
}

type Input<T> = { readonly input: T };

export function rootResolvers(database: Relational) {
	const rowOf = async (table: Table, id: number) =>
		(await database.byIds(table, [id]))[0] ?? null;
	const ownRow = async (table: Table, id: string, context: ViewerContext) => {
		const row = await rowOf(table, Number(id));
		if (row?.owner_id !== viewerOf(context)) throw new Error("Not found.");
		return row;
	};
	return {
		Query: {
			nodes: (_: unknown, { ids }: { readonly ids: readonly string[] }) =>
				nodesOf(database, ids),
			viewer: (_: unknown, __: unknown, { viewer }: ViewerContext) =>
				viewer === null ? null : rowOf("users", viewer),
		},
		Mutation: {
			async createPin(
				_: unknown,
				{ input }: Input<{ boardId: string; details: string; link?: string }>,
				context: ViewerContext,
			) {
				const board = await ownRow("boards", input.boardId, context);
				const row = {
					board_id: board.id,
					owner_id: viewerOf(context),
					details: input.details,
					link: input.link ?? null,
					seq: nextSequence(),
				};
				return { pin: { id: await database.insertPin(row), ...row } };
			},
			async updatePin(
				_: unknown,
				{ input }: Input<{ pinId: string; details: string }>,
				context: ViewerContext,
			) {
				const pin = await ownRow("pins", input.pinId, context);
				await database.setDetails(pin.id, input.details);
				return { pin: { ...pin, details: input.details } };
			},
			async deletePin(
				_: unknown,
				{ input }: Input<{ pinId: string }>,
				context: ViewerContext,
			) {
				const pin = await ownRow("pins", input.pinId, context);
				await database.deletePin(pin.id);
				return { deletedPinId: input.pinId };
			},
			async likePin(
				_: unknown,
				{ input }: Input<{ pinId: string }>,
				context: ViewerContext,
			) {
				const pin = Number(input.pinId);
				const like = { pin_id: pin, user_id: viewerOf(context) };
				await database.like({ ...like, seq: nextSequence() });
				return { pin: await rowOf("pins", pin) };
			},
			async unlikePin(
				_: unknown,
				{ input }: Input<{ pinId: string }>,
				context: ViewerContext,
			) {
				const pin = Number(input.pinId);
				await database.unlike({ pin_id: pin, user_id: viewerOf(context) });
				return { pin: await rowOf("pins", pin) };
			},
			async followUser(
				_: unknown,
				{ input }: Input<{ userId: string }>,
				context: ViewerContext,
			) {
				const user = Number(input.userId);
				await database.follow({
					follower_id: viewerOf(context),
					followee_id: user,
					seq: nextSequence(),
				});
				return { user: await rowOf("users", user) };
			},
		},
	};
}
