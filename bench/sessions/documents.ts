import type { Flavor } from "../queries.ts";

/** What a person asks for. `boards` and `boardPage` go on where `profile` and `board` ended. */
export const KINDS = [
	"profile",
	"boards",
	"board",
	"boardPage",
	"pin",
	"likePin",
	"createPin",
	"followUser",
] as const;
export type Kind = (typeof KINDS)[number];

/** Pins of a page of a board. */
export const PINS_PAGE = 25;

const WRITES: readonly Kind[] = ["likePin", "createPin", "followUser"];

export function isWrite(kind: Kind): boolean {
	return WRITES.includes(kind);
}

/** How a schema spells what differs between them. */
interface Spelling {
	readonly user: string;
	/** How many followers, followees, boards and pins a user has. */
	readonly counts: string;
	readonly likeCount: string;
	readonly likers: string;
}

const PAGE_INFO = "pageInfo { hasNextPage endCursor }";
const BOARDS = `nodes { id name pins(first: 4) { nodes { id details } } } ${PAGE_INFO}`;

function textsOf({
	user,
	counts,
	likeCount,
	likers,
}: Spelling): Readonly<Record<Kind, string>> {
	const pins = `nodes { id details viewerLikes ${likeCount} } ${PAGE_INFO}`;
	return {
		profile: `query Profile($id: ID!) { ${user} { id username bio viewerFollows ${counts} boards(first: 5) { ${BOARDS} } } }`,
		boards: `query Boards($id: ID!, $after: String!) { ${user} { boards(first: 5, after: $after) { ${BOARDS} } } }`,
		board: `query Board($id: ID!) { board(id: $id) { id name owner { id username } pins(first: ${PINS_PAGE}) { ${pins} } } }`,
		boardPage: `query BoardPage($id: ID!, $after: String!) { board(id: $id) { pins(first: ${PINS_PAGE}, after: $after) { ${pins} } } }`,
		pin: `query Pin($id: ID!) { pin(id: $id) { id details link viewerLikes owner { id username viewerFollows } board { id name } ${likers} } }`,
		likePin:
			"mutation Like($input: LikePinInput!) { likePin(input: $input) { pin { id } } }",
		createPin:
			"mutation Save($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
		followUser:
			"mutation Follow($input: FollowUserInput!) { followUser(input: $input) { user { id } } }",
	};
}

/** PostGraphile knows no viewer: who asks is a variable. */
const LIKES_OF_VIEWER =
	"viewerLikes: likesByPinId(condition: {userId: $viewer}) { totalCount }";
const FOLLOWED_BY_VIEWER =
	"viewerFollows: followsByFolloweeId(condition: {followerId: $viewer}) { totalCount }";
const ROW_BOARDS = `orderBy: [SEQ_DESC]) { nodes { id: rowId name pins: pinsByBoardId(first: 4, orderBy: [SEQ_DESC]) { nodes { id: rowId details } } } ${PAGE_INFO} }`;
const ROW_PINS = `orderBy: [SEQ_DESC]) { nodes { id: rowId details ${LIKES_OF_VIEWER} likedBy: likesByPinId { totalCount } } ${PAGE_INFO} }`;

const TEXTS: Readonly<Record<Flavor, Readonly<Record<Kind, string>>>> = {
	corkboard: textsOf({
		user: "user(by: {id: $id})",
		counts:
			"followers { totalCount } following { totalCount } pins { totalCount }",
		likeCount: "likedBy { totalCount }",
		likers: "likedBy(first: 10) { totalCount nodes { id username } }",
	}),
	standard: textsOf({
		user: "user(id: $id)",
		counts: "counts { followers following pins }",
		likeCount: "likeCount",
		likers: "likeCount likedBy(first: 10) { nodes { id username } }",
	}),
	postgraphile: {
		profile: `query Profile($id: BigInt!, $viewer: BigInt!) { user: userByRowId(rowId: $id) { id: rowId username bio ${FOLLOWED_BY_VIEWER} followers: followsByFolloweeId { totalCount } following: followsByFollowerId { totalCount } pins: pinsByOwnerId { totalCount } boards: boardsByOwnerId(first: 5, ${ROW_BOARDS} } }`,
		boards: `query Boards($id: BigInt!, $after: Cursor!) { user: userByRowId(rowId: $id) { boards: boardsByOwnerId(first: 5, after: $after, ${ROW_BOARDS} } }`,
		board: `query Board($id: BigInt!, $viewer: BigInt!) { board: boardByRowId(rowId: $id) { id: rowId name owner: userByOwnerId { id: rowId username } pins: pinsByBoardId(first: ${PINS_PAGE}, ${ROW_PINS} } }`,
		boardPage: `query BoardPage($id: BigInt!, $after: Cursor!, $viewer: BigInt!) { board: boardByRowId(rowId: $id) { pins: pinsByBoardId(first: ${PINS_PAGE}, after: $after, ${ROW_PINS} } }`,
		pin: `query Pin($id: BigInt!, $viewer: BigInt!) { pin: pinByRowId(rowId: $id) { id: rowId details link ${LIKES_OF_VIEWER} owner: userByOwnerId { id: rowId username ${FOLLOWED_BY_VIEWER} } board: boardByBoardId { id: rowId name } likedBy: likesByPinId(first: 10, orderBy: [SEQ_DESC]) { totalCount nodes { user: userByUserId { id: rowId username } } } } }`,
		likePin:
			"mutation Like($input: CreateLikeInput!) { createLike(input: $input) { like { pin: pinByPinId { id: rowId } } } }",
		createPin:
			"mutation Save($input: CreatePinInput!) { createPin(input: $input) { pin { id: rowId } } }",
		followUser:
			"mutation Follow($input: CreateFollowInput!) { createFollow(input: $input) { follow { user: userByFolloweeId { id: rowId } } } }",
	},
};

export function documentOf(flavor: Flavor, kind: Kind): string {
	return TEXTS[flavor][kind];
}

/** What Corkboard knows by id. */
export const KNOWN: readonly string[] = Object.values(TEXTS.corkboard);
