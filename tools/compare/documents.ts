import type { Expected, ListName } from "./expected.ts";
import type { Node } from "./identities.ts";

/**
 * The queries. How many objects one of them asks for is bounded by the limits
 * of a server as it is by default: `nodes` takes 100 ids, a document has 2,000
 * tokens, and an operation reads at most 60,000 edges and objects.
 */

/** Items of a list's first page, asked for many objects at once. */
const FIRST_PAGE = 50;
/** Items of the pages that follow: the most there is. */
const NEXT_PAGE = 100;

/** Names in one request: 18 tokens each. */
export const NAMES_AT_ONCE = 90;
/** Pages that follow in one request: 42 tokens each, and a cost of 500 where they are of pins (an edge, the pin and its owner, its board and the owner of that). */
export const NEXT_PAGES_AT_ONCE = 40;

/** What of an object is compared, and how many objects are asked for at once. */
export interface Comparison {
	readonly type: Expected["type"];
	readonly lists: readonly ListName[];
	readonly atOnce: number;
}

/** A user costs most, by its likes: 50 edges, pins, boards and owners of both. */
export const COMPARISONS: Readonly<Record<Expected["type"], Comparison>> = {
	User: {
		type: "User",
		lists: [
			"User.boards",
			"User.pins",
			"User.likes",
			"User.following",
			"User.followers",
		],
		atOnce: 50,
	},
	Board: { type: "Board", lists: ["Board.pins"], atOnce: 100 },
	Pin: { type: "Pin", lists: ["Pin.repins", "Pin.likedBy"], atOnce: 100 },
};

/** A page of a list as these queries ask for it. */
export interface Page {
	readonly totalCount: number;
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
	readonly nodes: readonly (Node | null)[];
}

const USER = "fragment User on User { __typename id username name }";
const BOARD =
	"fragment Board on Board { __typename id name owner { id username } }";
const PIN =
	"fragment Pin on Pin { __typename id details link owner { id username } board { id name } }";
const PAGE_INFO =
	"pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

const FRAGMENTS = { User: USER, Board: BOARD, Pin: PIN };

const ITEMS: Readonly<Record<ListName, Expected["type"]>> = {
	"User.boards": "Board",
	"User.pins": "Pin",
	"User.likes": "Pin",
	"User.following": "User",
	"User.followers": "User",
	"Board.pins": "Pin",
	"Pin.repins": "Pin",
	"Pin.likedBy": "User",
};

/** The type of each list's pages. */
const PAGES: Readonly<Record<ListName, string>> = {
	"User.boards": "BoardConnection",
	"User.pins": "PinConnection",
	"User.likes": "LikedPinConnection",
	"User.following": "FollowedUserConnection",
	"User.followers": "FollowerConnection",
	"Board.pins": "PinConnection",
	"Pin.repins": "PinConnection",
	"Pin.likedBy": "LikerConnection",
};

/** Users by name: `u0` by `$u0`, and so on. */
export function namesQuery(count: number): string {
	const numbers = upTo(count);
	return `query Names(${numbers.map((n) => `$u${n}: String!`).join(" ")}) {
	${numbers.map((n) => `u${n}: user(by: {username: $u${n}}) { ...User }`).join("\n\t")}
}
${USER}`;
}

/** Objects of a type by `$ids`, with the first page of each of their lists; pins with their origin. */
export function objectsQuery({ type, lists }: Comparison): string {
	const used = new Set([type, ...lists.map((list) => ITEMS[list])]);
	const pages = lists.map(
		(list) => `${fieldOf(list)}(first: ${FIRST_PAGE}) { ...${pageOf(list)} }`,
	);
	return `query Objects($ids: [ID!]!) {
	nodes(ids: $ids) { ...${type} ... on ${type} { ${pages.join(" ")} ${type === "Pin" ? "origin { ...Pin }" : ""} } }
}
${[...used].map((name) => FRAGMENTS[name]).join("\n")}
${pageFragments(lists)}`;
}

/** The pages of one kind of list that follow `$a0`, `$a1`, … of the objects `$i0`, `$i1`, …, as `l0.list`, … */
export function nextPagesQuery(list: ListName, count: number): string {
	const numbers = upTo(count);
	const [type] = list.split(".");
	return `query NextPages(${numbers.map((n) => `$i${n}: ID! $a${n}: String`).join(" ")}) {
	${numbers.map((n) => `l${n}: node(id: $i${n}) { ... on ${type} { list: ${fieldOf(list)}(first: ${NEXT_PAGE}, after: $a${n}) { ...${pageOf(list)} } } }`).join("\n\t")}
}
${FRAGMENTS[ITEMS[list]]}
${pageFragments([list])}`;
}

/** One page of a user's followers, in either direction. */
export const WALK_QUERY = `query Walk($id: ID!, $first: Int, $after: String, $last: Int, $before: String) {
	user(by: {id: $id}) {
		followers(first: $first, after: $after, last: $last, before: $before) { ...${pageOf("User.followers")} }
	}
}
${USER}
${pageFragments(["User.followers"])}`;

export function fieldOf(list: ListName): string {
	return list.slice(list.indexOf(".") + 1);
}

function pageOf(list: ListName): string {
	return `PageOf${PAGES[list]}`;
}

function pageFragments(lists: readonly ListName[]): string {
	const fragments = lists.map(
		(list) =>
			`fragment ${pageOf(list)} on ${PAGES[list]} { totalCount ${PAGE_INFO} nodes { ...${ITEMS[list]} } }`,
	);
	return [...new Set(fragments)].join("\n");
}

function upTo(count: number): readonly number[] {
	return Array.from({ length: count }, (_, n) => n);
}
