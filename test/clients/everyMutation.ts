import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { buildSchema } from "graphql";
import { COPIES } from "../update.ts";
import { longBoard, plainly } from "./lists.ts";

/** How a client writes a list that it keeps: a field with its arguments, and what it selects of a node. */
export type List = (field: string, node: string) => string;

/** Lists that mutations change, by the type that has them. */
export function listsOf(list: List) {
	return {
		viewer: {
			boards: list("boards(first: 50)", "id name"),
			likes: list("likes(first: 50)", "id"),
			following: list("following(first: 50)", "id"),
			followedBoards: list("followedBoards(first: 50)", "id"),
			followedInterests: list("followedInterests(first: 50)", "id"),
			blockedUsers: list("blockedUsers(first: 50)", "id"),
		},
		board: {
			pins: list("pins(first: 50)", "id title section { id name }"),
			sections: list("sections(first: 50)", "id name"),
			collaborators: list("collaborators(first: 50)", "id"),
		},
		pin: { comments: list("comments(last: 10)", "id text") },
	};
}

export const FOLLOWED = "id viewerFollows followers(first: 0) { totalCount }";
export const LIKED = "id viewerLikes likedBy(first: 0) { totalCount }";

/** What a client selects of each mutation's payload. */
export type Selections = Readonly<Record<string, string>>;

/** A page that shows something of all that mutations change. */
export function pageQuery(name: string, list: List): string {
	const { viewer, board, pin } = listsOf(list);
	const all = (lists: object) => Object.values(lists).join(" ");
	return `query ${name}($pin: ID!, $own: ID!, $board: ID!, $user: ID!, $interest: ID!) {
	viewer { id name ${all(viewer)} }
	own: board(id: $own) { id name ${all(board)} }
	pin(id: $pin) { ${LIKED} ${all(pin)} }
	board(id: $board) { ${FOLLOWED} }
	user(by: { id: $user }) { ${FOLLOWED} }
	interest(by: { id: $interest }) { ${FOLLOWED} }
}`;
}

interface Nodes<Node> {
	readonly edges: readonly { readonly node: Node }[];
}

interface Followed {
	readonly id: string;
	readonly viewerFollows: boolean;
	readonly followers: { readonly totalCount: number };
}

interface Named {
	readonly id: string;
	readonly name: string;
}

/** What the page shows, as its client reads it from its cache. */
export interface Shown {
	readonly viewer: Named & {
		readonly boards: Nodes<Named>;
		readonly likes: Nodes<{ readonly id: string }>;
		readonly following: Nodes<{ readonly id: string }>;
		readonly followedBoards: Nodes<{ readonly id: string }>;
		readonly followedInterests: Nodes<{ readonly id: string }>;
		readonly blockedUsers: Nodes<{ readonly id: string }>;
	};
	readonly own: Named & {
		readonly pins: Nodes<{
			readonly id: string;
			readonly title: string | null;
			readonly section: Named | null;
		}>;
		readonly sections: Nodes<Named>;
		readonly collaborators: Nodes<{ readonly id: string }>;
	};
	readonly pin: {
		readonly id: string;
		readonly viewerLikes: boolean;
		readonly likedBy: { readonly totalCount: number };
		readonly comments: Nodes<{ readonly id: string; readonly text: string }>;
	};
	readonly board: Followed;
	readonly user: Followed;
	readonly interest: Followed;
}

export type Variables = Readonly<
	Record<"pin" | "own" | "board" | "user" | "interest", string>
>;

/** A client with the page open. */
export interface OpenPage {
	/** What the page shows now, without asking the server. */
	shown(): Shown;
	/** Sends `name(input: $input)` with what this client selects of its payload. */
	mutate(name: string, input: object): Promise<unknown>;
}

/** Names of all mutations of the public schema. */
export function allMutations(): readonly string[] {
	const schema = buildSchema(readFileSync(COPIES.publicSchema, "utf8"));
	const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
	assert.ok(mutations.length > 30);
	return mutations.toSorted();
}

/** A new user with a board of their own, and what others have for them to like and follow. */
export async function newcomer(
	url: string,
	username: string,
	signUp: (input: object) => Promise<string>,
): Promise<{ readonly token: string; readonly variables: Variables }> {
	const token = await signUp({ username, name: "Somebody New" });
	const { createBoard } = await plainly(url, token).data<{
		createBoard: { board: { id: string } };
	}>('mutation { createBoard(input: { name: "Own" }) { board { id } } }');
	const { user, interest } = await plainly(url).data<{
		user: { id: string };
		interest: { id: string };
	}>(
		'{ user(by: { username: "basil_02" }) { id } interest(by: { slug: "gardens" }) { id } }',
	);
	const board = await longBoard(url);
	return {
		token,
		variables: {
			pin: board.pins[0] ?? "",
			own: createBoard.board.id,
			board: board.id,
			user: user.id,
			interest: interest.id,
		},
	};
}

/**
 * Carries out every mutation but createUser and deactivateUser, which begin and
 * end a viewer, and holds what the page shows after each one to what it did.
 */
export async function carryOutAll(
	{ shown, mutate }: OpenPage,
	variables: Variables,
): Promise<void> {
	const { own: boardId, pin: pinId, user: userId } = variables;
	const idsOf = (list: Nodes<{ readonly id: string }>) =>
		list.edges.map(({ node }) => node.id);
	const namesOf = (list: Nodes<Named>) =>
		list.edges.map(({ node }) => node.name);
	const boards = () => namesOf(shown().viewer.boards);
	const sections = () => namesOf(shown().own.sections);
	const pins = () =>
		shown().own.pins.edges.map(({ node }) =>
			node.section ? `${node.title} in ${node.section.name}` : node.title,
		);

	await mutate("updateUser", { name: "A Page" });
	assert.equal(shown().viewer.name, "A Page");

	await mutate("createBoard", { name: "Second" });
	assert.deepEqual(boards(), ["Second", "Own"]);
	const [second = ""] = idsOf(shown().viewer.boards);
	await mutate("updateBoard", { boardId: second, name: "2nd" });
	assert.deepEqual(boards(), ["2nd", "Own"]);
	await mutate("moveBoard", { boardId: second, afterBoardId: boardId });
	assert.deepEqual(boards(), ["Own", "2nd"]);
	await mutate("deleteBoard", { boardId: second });
	assert.deepEqual(boards(), ["Own"]);

	await mutate("createSection", { boardId, name: "Later" });
	await mutate("createSection", { boardId, name: "Now" });
	assert.deepEqual(sections(), ["Now", "Later"]);
	const [now, later] = idsOf(shown().own.sections);
	await mutate("moveSection", { sectionId: now, afterSectionId: later });
	assert.deepEqual(sections(), ["Later", "Now"]);
	await mutate("updateSection", { sectionId: now, name: "Soon" });
	assert.deepEqual(sections(), ["Later", "Soon"]);

	await mutate("createPin", { boardId, title: "one" });
	await mutate("createPin", { boardId, title: "two", sectionId: now });
	assert.deepEqual(pins(), ["two in Soon", "one"]);
	const [two, one] = idsOf(shown().own.pins);
	await mutate("movePin", { pinId: two, sectionId: later });
	assert.deepEqual(pins(), ["two in Later", "one"]);
	await mutate("movePin", { pinId: two, sectionId: null, afterPinId: one });
	assert.deepEqual(pins(), ["one", "two"]);
	await mutate("updatePin", { pinId: two, title: "2" });
	assert.deepEqual(pins(), ["one", "2"]);
	await mutate("movePins", { pinIds: [two, one], sectionId: later });
	assert.deepEqual(pins().toSorted(), ["2 in Later", "one in Later"]);
	await mutate("movePins", { pinIds: [two], sectionId: null });
	await mutate("movePin", { pinId: two, sectionId: null, afterPinId: one });
	assert.deepEqual(pins(), ["one in Later", "2"]);
	await mutate("deleteSection", { sectionId: later });
	assert.deepEqual(sections(), ["Soon"]);
	assert.deepEqual(pins(), ["one", "2"]);
	await mutate("deletePin", { pinId: two });
	assert.deepEqual(pins(), ["one"]);
	await mutate("repin", { pinId, boardId, title: "Saved" });
	assert.deepEqual(pins(), ["Saved", "one"]);
	await mutate("deletePins", { pinIds: idsOf(shown().own.pins) });
	assert.deepEqual(pins(), []);

	await mutate("addCollaborator", { boardId, userId });
	assert.deepEqual(idsOf(shown().own.collaborators), [userId]);
	await mutate("removeCollaborator", { boardId, userId });
	assert.deepEqual(idsOf(shown().own.collaborators), []);

	const likes = shown().pin.likedBy.totalCount;
	for (const [name, likesIt] of [
		["likePin", true],
		["unlikePin", false],
	] as const) {
		await mutate(name, { pinId });
		assert.equal(shown().pin.viewerLikes, likesIt);
		assert.equal(shown().pin.likedBy.totalCount, likes + Number(likesIt));
		assert.deepEqual(idsOf(shown().viewer.likes), likesIt ? [pinId] : []);
	}

	const texts = () => shown().pin.comments.edges.map(({ node }) => node.text);
	const before = texts();
	await mutate("addComment", { pinId, text: "As it is" });
	assert.deepEqual(texts().slice(-1), ["As it is"]);
	const [commentId] = idsOf(shown().pin.comments).slice(-1);
	await mutate("updateComment", { commentId, text: "As it was" });
	assert.deepEqual(texts().slice(-1), ["As it was"]);
	await mutate("deleteComment", { commentId });
	assert.deepEqual(texts().slice(-before.length), before);

	for (const [kind, list] of [
		["board", "followedBoards"],
		["user", "following"],
		["interest", "followedInterests"],
	] as const) {
		const id = variables[kind];
		const { totalCount } = shown()[kind].followers;
		const type = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
		for (const [name, follows] of [
			[`follow${type}`, true],
			[`unfollow${type}`, false],
		] as const) {
			await mutate(name, { [`${kind}Id`]: id });
			assert.equal(shown()[kind].viewerFollows, follows);
			assert.equal(
				shown()[kind].followers.totalCount,
				totalCount + Number(follows),
			);
			assert.deepEqual(idsOf(shown().viewer[list]), follows ? [id] : []);
		}
	}

	await mutate("blockUser", { userId });
	assert.deepEqual(idsOf(shown().viewer.blockedUsers), [userId]);
	await mutate("unblockUser", { userId });
	assert.deepEqual(idsOf(shown().viewer.blockedUsers), []);

	const unchanged = shown();
	await mutate("report", { subjectId: userId, reason: "SPAM" });
	const refreshed = { userId: unchanged.viewer.id };
	await mutate("refreshHomeFeed", refreshed);
	await mutate("hideFromHomeFeed", { pinId: variables.pin });
	assert.deepEqual(shown(), unchanged);
}

/**
 * Fails unless a client read the page once, and for the rest sent mutations
 * alone, each one of the schema.
 */
export function assertSent(operations: readonly string[], query: string): void {
	const mutations = operations.filter((operation) => operation !== query);
	assert.equal(operations.length - mutations.length, 1);
	assert.deepEqual([...new Set(mutations)].toSorted(), allMutations());
}
