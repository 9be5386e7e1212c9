import {
	type Flavor,
	QUERY_NAMES,
	type QueryName,
	textOf,
} from "../queries.ts";

export const WRITE_NAMES = [
	"likePin",
	"followUser",
	"createPin",
	"updatePin",
] as const;
export type WriteName = (typeof WRITE_NAMES)[number];

export const SHAPE_NAMES = [
	"likers",
	"middle",
	"nodes",
	"viewer",
	"follows",
] as const;
export type ShapeName = (typeof SHAPE_NAMES)[number];

/** What is read after writes, to see that they took place. */
export const CHECK_NAMES = ["pinAfter", "boardAfter", "userAfter"] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

export type DocumentName = QueryName | WriteName | ShapeName | CheckName;

type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** Corkboard and the peers with its schema take the same ones. */
const WRITES: Texts<WriteName> = {
	likePin:
		"mutation LikePin($input: LikePinInput!) { likePin(input: $input) { pin { id } } }",
	followUser:
		"mutation FollowUser($input: FollowUserInput!) { followUser(input: $input) { user { id } } }",
	createPin:
		"mutation CreatePin($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
	updatePin:
		"mutation UpdatePin($input: UpdatePinInput!) { updatePin(input: $input) { pin { id details } } }",
};

const SHAPES: Texts<Exclude<ShapeName, "follows">> = {
	likers:
		"query Likers($id: ID!) { board(id: $id) { name pins(first: 20) { nodes { id details likedBy(first: 5) { nodes { username boards(first: 2) { nodes { name } } } } } } } }",
	middle:
		"query Middle($id: ID!, $after: String!) { board(id: $id) { name pins(first: 30, after: $after) { edges { cursor node { id details owner { username } } } pageInfo { hasNextPage endCursor } } } }",
	nodes:
		"query Nodes($ids: [ID!]!) { nodes(ids: $ids) { ... on Pin { id details owner { username } board { name } } } }",
	viewer:
		"query Viewer { viewer { username boards(first: 5) { nodes { name pins(first: 5) { nodes { id details viewerLikes } } } } following(first: 10) { nodes { username viewerFollows } } } }",
};
const FOLLOWS =
	" { username following(first: 10) { nodes { username following(first: 5) { nodes { username bio } } } } } }";
const BOARD_AFTER =
	"query BoardAfter($id: ID!) { board(id: $id) { pins(first: 1) { nodes { details } } } }";
const LATEST = " { following(first: 1) { nodes { username } } } }";

const TEXTS: Readonly<
	Record<"corkboard" | "standard", Texts<WriteName | ShapeName | CheckName>>
> = {
	corkboard: {
		...WRITES,
		...SHAPES,
		follows: `query Follows($id: ID!) { user(by: {id: $id})${FOLLOWS}`,
		pinAfter:
			"query PinAfter($id: ID!) { pin(id: $id) { details likedBy(first: 1) { totalCount nodes { username } } } }",
		boardAfter: BOARD_AFTER,
		userAfter: `query UserAfter($id: ID!) { user(by: {id: $id})${LATEST}`,
	},
	standard: {
		...WRITES,
		...SHAPES,
		follows: `query Follows($id: ID!) { user(id: $id)${FOLLOWS}`,
		pinAfter:
			"query PinAfter($id: ID!) { pin(id: $id) { details likeCount likedBy(first: 1) { nodes { username } } } }",
		boardAfter: BOARD_AFTER,
		userAfter: `query UserAfter($id: ID!) { user(id: $id)${LATEST}`,
	},
};

/** PostGraphile writes rows. It has no shapes: it knows no viewer. */
const ROWS: Texts<WriteName | CheckName> = {
	likePin:
		"mutation LikePin($input: CreateLikeInput!) { createLike(input: $input) { like { pin: pinByPinId { id: rowId } } } }",
	followUser:
		"mutation FollowUser($input: CreateFollowInput!) { createFollow(input: $input) { follow { user: userByFolloweeId { id: rowId } } } }",
	createPin:
		"mutation CreatePin($input: CreatePinInput!) { createPin(input: $input) { pin { id: rowId } } }",
	updatePin:
		"mutation UpdatePin($input: UpdatePinByRowIdInput!) { updatePinByRowId(input: $input) { pin { id: rowId details } } }",
	pinAfter:
		"query PinAfter($id: BigInt!) { pin: pinByRowId(rowId: $id) { details likedBy: likesByPinId(first: 1, orderBy: [SEQ_DESC]) { totalCount nodes { user: userByUserId { username } } } } }",
	boardAfter:
		"query BoardAfter($id: BigInt!) { board: boardByRowId(rowId: $id) { pins: pinsByBoardId(first: 1, orderBy: [SEQ_DESC]) { nodes { details } } } }",
	userAfter:
		"query UserAfter($id: BigInt!) { user: userByRowId(rowId: $id) { following: followsByFollowerId(first: 1, orderBy: [SEQ_DESC]) { nodes { user: userByFolloweeId { username } } } } }",
};

export function documentOf(flavor: Flavor, name: DocumentName): string {
	if (isQuery(name)) return textOf(flavor, name);
	if (flavor !== "postgraphile") return TEXTS[flavor][name];
	if (isShape(name)) throw new Error(`PostGraphile is not asked for ${name}.`);
	return ROWS[name];
}

/** What Corkboard knows by id. */
export const KNOWN: readonly string[] = Object.values(TEXTS.corkboard);

function isQuery(name: DocumentName): name is QueryName {
	return QUERY_NAMES.some((query) => query === name);
}

function isShape(name: DocumentName): name is ShapeName {
	return SHAPE_NAMES.some((shape) => shape === name);
}
