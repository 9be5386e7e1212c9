import { createHash } from "node:crypto";

/**
 * The queries, as each kind of server spells them. Q1 reads a pin, Q2 a board
 * with a page of 25 and cursors, Q3 a profile of three levels with like counts,
 * Q4 a user's followees with their pins. Q5 pages through a board, 50 at a time.
 */
export const QUERY_NAMES = ["q1", "q2", "q3", "q4"] as const;
export type QueryName = (typeof QUERY_NAMES)[number];

/** `corkboard`; `standard`, the SDL of the peers; `postgraphile`, which derives its names. */
export type Flavor = "corkboard" | "standard" | "postgraphile";

const Q1 =
	"query Q1($id: ID!) { pin(id: $id) { details link owner { username } } }";
const Q2 =
	"query Q2($id: ID!) { board(id: $id) { name owner { username } pins(first: 25) { edges { cursor node { id details owner { username } } } pageInfo { hasNextPage endCursor } } } }";
const FOLLOWEES =
	" { following(first: 10) { nodes { username pins(first: 5) { nodes { details board { name } owner { username } } } } } } }";
const Q5 =
	"query Q5($id: ID!, $after: String) { board(id: $id) { pins(first: 50, after: $after) { edges { cursor node { id details } } pageInfo { hasNextPage endCursor } } } }";

const TEXTS: Readonly<
	Record<Flavor, Readonly<Record<QueryName | "q5", string>>>
> = {
	corkboard: {
		q1: Q1,
		q2: Q2,
		q3: "query Q3($id: ID!) { user(by: {id: $id}) { username boards(first: 10) { nodes { name pins(first: 10) { nodes { id details likedBy(first: 3) { totalCount nodes { username } } } } } } } }",
		q4: `query Q4($id: ID!) { user(by: {id: $id})${FOLLOWEES}`,
		q5: Q5,
	},
	standard: {
		q1: Q1,
		q2: Q2,
		q3: "query Q3($id: ID!) { user(id: $id) { username boards(first: 10) { nodes { name pins(first: 10) { nodes { id details likeCount likedBy(first: 3) { nodes { username } } } } } } } }",
		q4: `query Q4($id: ID!) { user(id: $id)${FOLLOWEES}`,
		q5: Q5,
	},
	// Aliases give the same shape.
	postgraphile: {
		q1: "query Q1($id: BigInt!) { pin: pinByRowId(rowId: $id) { details link owner: userByOwnerId { username } } }",
		q2: "query Q2($id: BigInt!) { board: boardByRowId(rowId: $id) { name owner: userByOwnerId { username } pins: pinsByBoardId(first: 25, orderBy: [SEQ_DESC]) { edges { cursor node { id: rowId details owner: userByOwnerId { username } } } pageInfo { hasNextPage endCursor } } } }",
		q3: "query Q3($id: BigInt!) { user: userByRowId(rowId: $id) { username boards: boardsByOwnerId(first: 10, orderBy: [SEQ_DESC]) { nodes { name pins: pinsByBoardId(first: 10, orderBy: [SEQ_DESC]) { nodes { id: rowId details likedBy: likesByPinId(first: 3, orderBy: [SEQ_DESC]) { totalCount nodes { user: userByUserId { username } } } } } } } } }",
		q4: "query Q4($id: BigInt!) { user: userByRowId(rowId: $id) { following: followsByFollowerId(first: 10, orderBy: [SEQ_DESC]) { nodes { user: userByFolloweeId { username pins: pinsByOwnerId(first: 5, orderBy: [SEQ_DESC]) { nodes { details board: boardByBoardId { name } owner: userByOwnerId { username } } } } } } } }",
		q5: "query Q5($id: BigInt!, $after: Cursor) { board: boardByRowId(rowId: $id) { pins: pinsByBoardId(first: 50, after: $after, orderBy: [SEQ_DESC]) { edges { cursor node { id: rowId details } } pageInfo { hasNextPage endCursor } } } }",
	},
};

export function textOf(flavor: Flavor, query: QueryName | "q5"): string {
	return TEXTS[flavor][query];
}

/** What `documentId` names a text by. */
export function documentIdOf(text: string): string {
	return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/** A document file for Corkboard: the ids are the hashes. */
export function documentFile(texts: readonly string[]): string {
	return JSON.stringify(
		Object.fromEntries(
			texts.map((text) => [documentIdOf(text).slice("sha256:".length), text]),
		),
	);
}
