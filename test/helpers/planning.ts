import { buildSchema, type DocumentNode, parse, validate } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { VisibilityDependency } from "../../src/graph/domain.ts";
import type { Node } from "../../src/graph/types.ts";
import type { Id } from "../../src/id/ids.ts";
import type {
	FieldSource,
	Mapping,
	Model,
	ObjectType,
	Reference,
} from "../../src/model/types.ts";
import type { Resolvers } from "../../src/plan/batchResolver.ts";
import { createPlanner } from "../../src/plan/planner.ts";
import type { OperationDeadline } from "../../src/util/deadline.ts";
import type { MaybePromise } from "../../src/util/maybePromise.ts";
import { ListGraph } from "./listGraph.ts";

/**
 * A small schema with everything that a plan supports. It has more non-null
 * fields than the real one, so that nulls propagate far.
 */
const CONNECTIONS = ["User", "Pin", "Comment"]
	.map(
		(type) => `
	type ${type}Connection { edges: [${type}Edge!]! nodes: [${type}]! pageInfo: PageInfo! totalCount: Int }
	type ${type}Edge { node: ${type} cursor: String! at: DateTime! }`,
	)
	.join("");

const PAGE = "(first: Int, after: String, last: Int, before: String)";

export const schema = buildSchema(`
	scalar DateTime
	interface Node { id: ID! }
	enum Mood { GOOD BAD }
	input Wish { mood: Mood = GOOD words: [String!] }
	type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
	${CONNECTIONS}
	type Query {
		node(id: ID!): Node
		nodes(ids: [ID!]!): [Node]!
		user(id: ID!): User
		surely(id: ID!): User!
		users${PAGE}: UserConnection
		echo(wish: Wish, number: Int! = 7): String
		table: [[Int]]
		strictTable: [[Int!]!]
		broken(how: String!): String
	}
	type Mutation {
		add(amount: Int!): Added
		addSurely(amount: Int!): Added!
	}
	type Added { sum: Int! user: User surely: User! users: [User!] }
	type User implements Node {
		id: ID! name: String! bio: String mood: Mood age: Int createdAt: DateTime!
		picture: Image
		best: User
		surelyBest: User!
		isFriend: Boolean
		fails: String
		surelyFails: String!
		friends(of: Int): [User!]
		followers${PAGE}: UserConnection
		likes${PAGE}: PinConnection
		surelyLikes${PAGE}: PinConnection!
	}
	type Image { url: String! alt: String }
	type Board implements Node { id: ID! name: String! pins${PAGE}: PinConnection }
	type Pin implements Node { id: ID! details: String board: Board owner: User comments${PAGE}: CommentConnection }
	type Comment implements Node { id: ID! text: String! pin: Pin }
`);

const reference = (field: string, key: string, target: string): Reference => ({
	field,
	key,
	target,
});

const mapping = (
	name: string,
	from: string | null,
	field: string,
	to: string,
	inverse: Mapping["inverse"] = null,
): Mapping => ({
	name,
	table: name,
	from,
	prefixKeys: null,
	to,
	field,
	order: "NEWEST_FIRST",
	inverse,
});

const mappings = [
	mapping("listUser", null, "users", "User"),
	mapping("followUser", "User", "followers", "User"),
	mapping("likePin", "User", "likes", "Pin"),
	mapping("surelyLikePin", "User", "surelyLikes", "Pin"),
	mapping("placePin", "Board", "pins", "Pin", {
		kind: "reference",
		field: "board",
		key: "board_id",
	}),
	mapping("commentPin", "Pin", "comments", "Comment", {
		kind: "reference",
		field: "pin",
		key: "pin_id",
	}),
];

const references: Readonly<Record<string, readonly Reference[]>> = {
	User: [
		reference("best", "best_id", "User"),
		reference("surelyBest", "best_id", "User"),
	],
	Pin: [
		reference("board", "board_id", "Board"),
		reference("owner", "user_id", "User"),
	],
	Comment: [reference("pin", "pin_id", "Pin")],
};

const objects = Object.entries({ Pin: 1, Board: 2, User: 3, Comment: 4 }).map(
	([name, number]): ObjectType => ({
		name,
		number,
		table: name,
		stored: [],
		references: references[name] ?? [],
		lookups: [],
		mappings: [],
		derivedMappings: [],
		globalMappings: [],
		prefixMappings: [],
	}),
);

const STORED: Readonly<Record<string, string>> = { createdAt: "created_at" };
const RESOLVED = new Set(["isFriend", "fails", "surelyFails", "friends"]);

function sourceOf(type: string, field: string): FieldSource {
	const found = mappings.find(
		(one) => (one.from ?? "Query") === type && one.field === field,
	);
	if (found) return { kind: "mapping", mapping: found.name };
	if (type === "Query" || type === "Mutation") return { kind: "resolver" };
	if (type.endsWith("Connection")) {
		return { kind: "page", part: field as "edges" };
	}
	if (type.endsWith("Edge")) return { kind: "edge", part: field as "node" };
	if (!objects.some(({ name }) => name === type)) return { kind: "property" };
	if (field === "id") return { kind: "id" };
	const refers = references[type]?.find((one) => one.field === field);
	if (refers) return { kind: "reference", ...refers };
	if (RESOLVED.has(field)) return { kind: "resolver" };
	return {
		kind: "stored",
		key: STORED[field] ?? field,
		default: field === "createdAt" ? "1970-01-01T00:00:00.000Z" : null,
	};
}

export const model: Model = {
	objects: new Map(objects.map((object) => [object.name, object])),
	objectsByNumber: new Map(objects.map((object) => [object.number, object])),
	mappings: new Map(mappings.map((one) => [one.name, one])),
	lookups: new Map(),
	sources: new Map(
		Object.values(schema.getTypeMap())
			.filter((type) => "getInterfaces" in type && !type.name.startsWith("__"))
			.map((type) => [
				type.name,
				new Map(
					Object.keys("getFields" in type ? type.getFields() : {}).map(
						(field) => [field, sourceOf(type.name, field)],
					),
				),
			]),
	),
};

/** A pin is visible with its board, and a comment with its pin. */
export function dependenciesOf(type: string): readonly VisibilityDependency[] {
	if (type === "Pin") return [{ field: "board", objects: 1 }];
	return type === "Comment" ? [{ field: "pin", objects: 2 }] : [];
}

/** The state of the test resolvers. */
export interface World {
	sum: number;
	/** Each call of a resolver, with the number of parents. */
	readonly calls: string[];
	/** `broken(how: "late")` waits for it. */
	readonly late: Promise<void>;
	/** The objects in the payload of `Mutation.add`. */
	readonly user: Id | null;
	readonly users: readonly Id[];
}

type Results = (
	parents: readonly (Node | null)[],
	args: Readonly<Record<string, unknown>>,
	world: World,
) => MaybePromise<readonly unknown[]>;

const each =
	(
		answer: (
			args: Readonly<Record<string, unknown>>,
			world: World,
			parent: Node | null,
		) => unknown,
	): Results =>
	(parents, args, world) =>
		parents.map((parent) => answer(args, world, parent));

const results: Readonly<Record<string, Results>> = {
	"Query.node": each(({ id }) => id),
	"Query.nodes": each(({ ids }) => ids),
	"Query.user": each(({ id }) => id),
	"Query.surely": each(({ id }) => id),
	"Query.echo": each((args) => JSON.stringify(args)),
	"Query.table": each(() => [[1, null], null, [2, "three" as unknown]]),
	"Query.strictTable": each(() => [[1], [2, null]]),
	"Query.broken": async (parents, { how }, world) => {
		if (how === "throw") throw new Error("secret words");
		if (how === "short") return [];
		if (how === "late") await world.late;
		return parents.map(() => "well");
	},
	"Mutation.add": each(add),
	"Mutation.addSurely": each(add),
	"User.isFriend": each((_, __, parent) => parent?.data.is_friend ?? null),
	"User.fails": each(() => failure()),
	"User.surelyFails": each((_, __, parent) =>
		parent?.data.fails ? failure() : "fine",
	),
	"User.friends": each((_, __, parent) => parent?.data.friends ?? null),
};

function add({ amount }: Readonly<Record<string, unknown>>, world: World) {
	if (amount === 0) return new CorkboardError("CONFLICT", "Nothing to add.");
	world.sum += Number(amount);
	return {
		sum: world.sum,
		user: world.user,
		surely: world.user,
		users: world.users,
	};
}

function failure(): CorkboardError {
	return new CorkboardError("FORBIDDEN", "Not for you.");
}

export const resolvers: Resolvers<World> = new Map(
	Object.entries(results).map(([field, answer]) => [
		field,
		{
			dependsOnViewer: false,
			cost: () => (field === "Query.echo" ? 3 : 0),
			maxObjects: (args) => (Array.isArray(args.ids) ? args.ids.length : 1),
			resolve({ parents, args, context }) {
				context.calls.push(`${field} ${parents.length}`);
				return answer(parents, args, context);
			},
		},
	]),
);

export const visibility = {
	dependenciesOf: dependenciesOf,
	isPrivateList: () => false,
};

export const MAX_COST = 50_000;

/** A new graph, world and planner. */
export function planning(options: { readonly maxPlans?: number } = {}) {
	const graph = new ListGraph(model);
	const late = Promise.withResolvers<void>();
	const world = {
		graph,
		sum: 0,
		calls: [] as string[],
		late: late.promise,
		user: null as Id | null,
		users: [] as Id[],
	};
	const planner = createPlanner<World>({
		schema,
		model,
		resolvers,
		visibility,
		maxCost: MAX_COST,
		maxPlans: options.maxPlans ?? 100,
	});
	return {
		graph,
		world,
		planner,
		late,
		/** The response as JSON. */
		async execute(
			query: string | DocumentNode,
			variables: Record<string, unknown> = {},
			{
				signal,
				...more
			}: { operationName?: string; signal?: AbortSignal } = {},
		): Promise<JsonResponse> {
			const executed = await planner.execute({
				document: typeof query === "string" ? valid(query) : query,
				variables,
				context: world,
				...(signal && { deadline: deadlineOf(signal) }),
				...more,
			});
			return JSON.parse(JSON.stringify(executed));
		},
	};
}

function deadlineOf(signal: AbortSignal): OperationDeadline {
	return {
		get isOver() {
			return signal.aborted;
		},
		signal,
	};
}

export interface JsonResponse {
	readonly data?: Record<string, unknown> | null;
	readonly errors?: readonly {
		readonly message: string;
		readonly path?: readonly (string | number)[];
		readonly locations?: readonly { line: number; column: number }[];
		readonly extensions: Readonly<Record<string, unknown>>;
	}[];
}

/** Parses and validates a document. */
export function valid(query: string): DocumentNode {
	const document = parse(query);
	const errors = validate(schema, document);
	if (errors.length > 0) throw new Error(errors.join("\n"));
	return document;
}

/** `path CODE` of each error, sorted. */
export function errorsOf({ errors = [] }: JsonResponse): readonly string[] {
	return errors
		.map(({ path = [], extensions }) => `${path.join(".")} ${extensions.code}`)
		.sort();
}
