import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CorkboardError } from "../../src/errors.ts";
import { type ModelAndSchema, readModel } from "../../src/model/read.ts";

const DIRECTIVES = readFileSync(
	join(import.meta.dirname, "../../src/model/directives.graphql"),
	"utf8",
);

const PAGE = "(first: Int, after: String, last: Int, before: String)";

/** A model with one of everything. A test of a problem changes it in one place. */
const SMALL = `type Query {
	user(id: ID): User
	allPins${PAGE}: PinConnection @mapping(name: "listPin", table: "root_has_pins")
}
type Mutation {
	likePin(id: ID!): LikePinPayload
}
type LikePinPayload {
	pin: Pin
}
interface Node {
	id: ID!
}
scalar DateTime
enum Mood { GLAD SAD }
type User implements Node @object(type: 3, table: "users") {
	id: ID!
	username: String! @stored(default: "") @lookup(name: "username", fold: CASE)
	email: String @lookup(name: "email")
	isViewer: Boolean
	likes${PAGE}: PinConnection @mapping(name: "likePin", table: "user_likes_pins", inverse: "likedBy")
	pins${PAGE}: PinConnection @mapping(name: "ownPin", table: "user_has_pins", inverse: "owner", order: POSITION)
}
type Pin implements Node @object(type: 1, table: "pins") {
	id: ID!
	details: String @stored
	width: Int! @stored(default: 1)
	createdAt: DateTime! @stored(key: "created_at", default: "1970-01-01T00:00:00.000Z")
	mood: Mood @stored
	image: Image @stored
	owner: User @reference(key: "user_id")
	likedBy${PAGE}: UserConnection @mapping(name: "likePin.inverse", table: "pin_liked_by_users", inverse: "likes")
}
type Image {
	url: String!
	alt: String
}
type PageInfo {
	hasNextPage: Boolean!
	hasPreviousPage: Boolean!
	startCursor: String
	endCursor: String
}
type PinConnection {
	edges: [PinEdge!]!
	nodes: [Pin]!
	pageInfo: PageInfo!
	totalCount: Int
}
type PinEdge {
	node: Pin
	cursor: String!
	at: DateTime!
}
type UserConnection {
	edges: [UserEdge!]!
	nodes: [User]!
	pageInfo: PageInfo!
	totalCount: Int
}
type UserEdge {
	node: User
	cursor: String!
	at: DateTime!
}
`;

export const RESOLVED: ReadonlySet<string> = new Set([
	"Query.user",
	"Mutation.likePin",
	"User.email",
	"User.isViewer",
]);

export type Change = readonly [before: string, after: string];

/** The small model with parts of its SDL replaced. Each `before` occurs exactly once. */
export function readSmall(
	changes: readonly Change[] = [],
	resolved: ReadonlySet<string> = RESOLVED,
	directives = DIRECTIVES,
): ModelAndSchema {
	let text = SMALL;
	for (const [before, after] of changes) {
		if (text.split(before).length !== 2) {
			throw new Error(`expected exactly one place, got ${before}`);
		}
		text = text.replace(before, () => after);
	}
	return readModel(
		[
			{ path: "directives.graphql", text: directives },
			{ path: "small.graphql", text },
		],
		{ resolverFields: resolved },
	);
}

/** The lines of the BAD_MODEL error that a change causes. */
export function problemsOf(...given: Parameters<typeof readSmall>): string[] {
	try {
		readSmall(...given);
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "BAD_MODEL") {
			return thrown.message.split("\n");
		}
		throw thrown;
	}
	return [];
}
