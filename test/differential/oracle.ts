import {
	buildSchema,
	type ExecutionResult,
	execute,
	GraphQLError,
	GraphQLObjectType,
	type GraphQLSchema,
	isInterfaceType,
	printSchema,
} from "graphql";
import { compareIds, type Id } from "../../src/id/ids.ts";
import type { JsonValue } from "../../src/util/json.ts";
import { cursorOf, type Learned, timestampOf } from "./learned.ts";
import type { Edge, Memory, Row } from "./memory.ts";
import type { Operation } from "./operation.ts";

/** Defaults, other than null, of stored fields that an import line may omit. */
const DEFAULTS: Readonly<Record<string, JsonValue>> = {
	"Board.secret": false,
};
/** Null for everyone but their owners. */
const PRIVATE_LISTS: readonly string[] = ["User.blockedUsers", "User.homeFeed"];

const REFERENCES = [
	"Board.owner",
	"Section.board",
	"Pin.board",
	"Pin.section",
	"Pin.owner",
	"Pin.origin",
	"Comment.author",
	"Comment.pin",
];
/** By field: the viewer's list that it looks the object up in. */
const MEMBERSHIPS: Readonly<Record<string, string>> = {
	"User.viewerFollows": "User.following",
	"User.followsViewer": "User.followers",
	"Board.viewerFollows": "User.followedBoards",
	"Interest.viewerFollows": "User.followedInterests",
	"Pin.viewerLikes": "User.likes",
};

/** By field: the list that it counts. */
const COUNTS: Readonly<Record<string, string>> = {
	"User.pinCount": "User.pins",
	"User.boardCount": "User.boards",
	"User.followerCount": "User.followers",
	"User.followingCount": "User.following",
	"Board.pinCount": "Board.pins",
	"Board.followerCount": "Board.followers",
	"Section.pinCount": "Section.pins",
	"Pin.likeCount": "Pin.likedBy",
	"Pin.commentCount": "Pin.comments",
	"Interest.followerCount": "Interest.followers",
};
/** Null for everyone but the user itself. */
const PRIVATE_COUNTS: readonly string[] = ["User.pinCount", "User.boardCount"];

interface OracleContext {
	readonly viewer: Id | null;
	/** Set for a page that may be shorter than requested. */
	isUncertain: boolean;
}

type Args = Readonly<Record<string, unknown>>;
type Resolve = (parent: never, args: Args, context: OracleContext) => unknown;

/**
 * The second oracle: the documented behavior of queries, on arrays in memory. It
 * returns null if the limit of three further reads may leave a page short (the
 * documents do not say where). It has no mutations.
 */
export function createOracle(
	publicSchema: GraphQLSchema,
	memory: Memory,
	learned: Learned,
): (operation: Operation) => Promise<ExecutionResult | null> {
	const schema = buildSchema(printSchema(publicSchema));
	const resolvers = resolversOf(memory, learned);
	for (const type of Object.values(schema.getTypeMap())) {
		if (isInterfaceType(type)) type.resolveType = (row: Row) => row.type;
		if (!(type instanceof GraphQLObjectType)) continue;
		for (const field of Object.values(type.getFields())) {
			const name = `${type.name}.${field.name}`;
			const resolve =
				resolvers.get(name) ?? derived(memory, learned, type, name, field.type);
			if (resolve !== null) field.resolve = resolve as never;
		}
	}
	return async ({ document, operationName, variables, viewer }) => {
		const context: OracleContext = { viewer, isUncertain: false };
		const response = await execute({
			schema,
			document,
			operationName,
			variableValues: variables,
			contextValue: context,
		});
		return context.isUncertain ? null : response;
	};
}

function resolversOf(
	memory: Memory,
	learned: Learned,
): ReadonlyMap<string, Resolve> {
	const byId =
		(type: string | null): Resolve =>
		(_, { id }, { viewer }) =>
			find(memory, viewer, type, id);
	const byName =
		(type: string, prefix: string, name: string): Resolve =>
		(_, args, { viewer }) => {
			const by = args.by as Readonly<Record<string, unknown>>;
			if ("id" in by) return find(memory, viewer, type, by.id);
			const key = String(by[name]);
			return memory.byName.get(
				prefix === "" ? key.toLowerCase() : prefix + key,
			);
		};
	const membership = (list: string): Resolve =>
		((row: Row, _: Args, { viewer }: OracleContext) =>
			viewer && memory.has(`${list} ${viewer}`, row)) as Resolve;
	const nodes: Resolve = (_, { ids }, { viewer }) => {
		const given = ids as readonly unknown[];
		if (given.length > 100) throw badInput("at most 100");
		return given.map((id) => find(memory, viewer, null, id));
	};
	return new Map<string, Resolve>([
		["Query.node", byId(null)],
		["Query.nodes", nodes],
		["Query.viewer", (_, __, { viewer }) => viewer && memory.byId.get(viewer)],
		["Query.user", byName("User", "", "username")],
		["Query.board", byId("Board")],
		["Query.pin", byId("Pin")],
		["Query.comment", byId("Comment")],
		["Query.interest", byName("Interest", "#", "slug")],
		[
			"Query.interests",
			(_, args, context) =>
				page(memory, learned, "Query.interests root", args, context),
		],
		[
			"Query.users",
			(_, args, context) => {
				const { size } = sizeOf(args);
				const sees = (row: Row) => memory.sees(context.viewer, row);
				const text = String(args.startsWith);
				const asked = wordsOf(text);
				const [word] = asked;
				if (word === undefined || size === 0) return { nodes: [] };
				const beginning = (row: Row, of: string) =>
					["username", "name"].some((field) => {
						const words = wordsOf(String(row.fields[field] ?? ""));
						return words
							.slice(0, 4)
							.some((_, at) => words.slice(at).join(" ").startsWith(of));
					});
				const [longest = word] = asked
					.slice(0, 4)
					.toSorted((a, b) => b.length - a.length);
				const listed = memory
					.newest("User")
					.filter((row) => beginning(row, longest.slice(0, 10)));
				const isWhole = asked.length === 1 && word.length <= 10;
				const most = isWhole ? size : 100;
				const edges = listed.map((to) => ({ to, line: null }));
				if (mayBeShort(edges, ({ to }) => sees(to), most)) {
					context.isUncertain = true;
				}
				const named = memory.byName.get(text.toLowerCase());
				const isNamed = /^\w{3,30}$/.test(text) && named && sees(named);
				const found = listed
					.filter(sees)
					.slice(0, most)
					.filter((row) => beginning(row, asked.join(" ")))
					.slice(0, size);
				const users = new Set([...(isNamed ? [named] : []), ...found]);
				return { nodes: [...users].slice(0, size) };
			},
		],
		[
			"Query.popularInterests",
			(_, args, { viewer }) => {
				const { size } = sizeOf(args);
				const longest = (list: string) =>
					memory
						.longest("Interest", list)
						.slice(0, size)
						.filter((row) => memory.sees(viewer, row));
				const followed = longest("Interest.followers");
				const filed = followed.length < size ? longest("Interest.pins") : [];
				const interests = new Set([...followed, ...filed]);
				return { nodes: [...interests].slice(0, size) };
			},
		],
		[
			"User.isViewer",
			((row: Row, _: Args, { viewer }: OracleContext) =>
				row.id === viewer) as Resolve,
		],
		[
			"User.email",
			((row: Row, _: Args, { viewer }: OracleContext) =>
				row.id === viewer ? (row.fields.email ?? null) : null) as Resolve,
		],
		[
			"Board.viewerCanPin",
			((row: Row, _: Args, { viewer }: OracleContext) =>
				viewer && isMember(memory, row, viewer)) as Resolve,
		],
		...["viewerCanUpdate", "viewerCanDelete"].flatMap((field) =>
			["Board", "Section", "Pin", "Comment"].map(
				(type) =>
					[
						`${type}.${field}`,
						((row: Row, _: Args, { viewer }: OracleContext) =>
							viewer && may(memory, field, row, viewer)) as Resolve,
					] as const,
			),
		),
		[
			"Pin.viewerHasSaved",
			((row: Row, _: Args, { viewer }: OracleContext) =>
				viewer && savesOf(memory, row, viewer).length > 0) as Resolve,
		],
		[
			"Pin.related",
			// The documents do not say in what order.
			(_, __, context) => {
				context.isUncertain = true;
				return null;
			},
		],
		[
			"Pin.viewerSaves",
			((row: Row, _: Args, { viewer }: OracleContext) =>
				viewer && {
					nodes: savesOf(memory, row, viewer),
				}) as Resolve,
		],
		...Object.entries(COUNTS).map(
			([field, list]) =>
				[
					field,
					((row: Row, _: Args, { viewer }: OracleContext) =>
						PRIVATE_COUNTS.includes(field) && row.id !== viewer
							? null
							: memory.list(`${list} ${row.id}`).length) as Resolve,
				] as const,
		),
		...Object.entries(MEMBERSHIPS).map(
			([field, list]) => [field, membership(list)] as const,
		),
	]);
}

/** The board's owner, or one of its collaborators. */
function isMember(memory: Memory, board: Row, viewer: Id): boolean {
	return (
		memory.reference(board, "owner")?.id === viewer ||
		memory.collaboratesOn(board, viewer)
	);
}

function may(memory: Memory, field: string, row: Row, viewer: Id): boolean {
	const board = memory.reference(row, "board");
	if (row.type === "Section") {
		return board !== null && isMember(memory, board, viewer);
	}
	const users = [
		memory.reference(row, row.type === "Comment" ? "author" : "owner"),
	];
	if (field === "viewerCanDelete") {
		// The owner of a pin, or of its board, decides what stays on it.
		const pin = row.type === "Comment" ? memory.reference(row, "pin") : null;
		const on = pin === null ? board : memory.reference(pin, "board");
		for (const place of [pin, on]) {
			if (place !== null) users.push(memory.reference(place, "owner"));
		}
	}
	return users.some((user) => user?.id === viewer);
}

/** Ten of the viewer's pins that were saved from a pin, the newest first. */
function savesOf(memory: Memory, origin: Row, viewer: Id): readonly Row[] {
	return (
		memory
			.list(`Pin.repins ${origin.id}`)
			.map(({ to }) => to)
			.filter((pin) => memory.reference(pin, "owner")?.id === viewer)
			.toSorted((a, b) => compareIds(b.id, a.id))
			// Behind these nobody looks, though all are hidden.
			.slice(0, 20)
			.filter((pin) => memory.sees(viewer, pin))
			.slice(0, 10)
			.toSorted((a, b) =>
				String(b.fields.createdAt) > String(a.fields.createdAt)
					? 1
					: String(b.fields.createdAt) < String(a.fields.createdAt)
						? -1
						: 0,
			)
	);
}

/** The resolver of a field by its type; null for a field of a page, which graphql-js reads as a property. */
function derived(
	memory: Memory,
	learned: Learned,
	type: GraphQLObjectType,
	name: string,
	of: unknown,
): Resolve | null {
	const isObject = type.getInterfaces().length > 0;
	if (!isObject) return null;
	const field = name.split(".")[1] as string;
	if (String(of).endsWith("Connection")) {
		return ((row: Row, args: Args, context: OracleContext) => {
			if (PRIVATE_LISTS.includes(name) && row.id !== context.viewer) {
				sizeOf(args);
				return null;
			}
			return page(memory, learned, `${name} ${row.id}`, args, context);
		}) as Resolve;
	}
	if (REFERENCES.includes(name)) {
		return ((row: Row, _: Args, { viewer }: OracleContext) => {
			const other = memory.reference(row, field);
			return other && memory.sees(viewer, other) ? other : null;
		}) as Resolve;
	}
	if (field === "id") return ((row: Row) => row.id) as Resolve;
	return ((row: Row) => row.fields[field] ?? DEFAULTS[name] ?? null) as Resolve;
}

/** A malformed id is an error. An id of no visible object of the type is null. */
function find(
	memory: Memory,
	viewer: Id | null,
	type: string | null,
	id: unknown,
): Row | null {
	const isDecimal = /^(0|[1-9][0-9]*)$/.test(String(id));
	if (!isDecimal || BigInt(String(id)) >= 1n << 64n) throw badInput("an id");
	const row = memory.byId.get(String(id));
	const fits = row !== undefined && (type === null || row.type === type);
	return fits && memory.sees(viewer, row) ? row : null;
}

/** Words without case and accents, of Latin letters. */
function wordsOf(text: string): readonly string[] {
	const plain = text.normalize("NFD").replace(/[\u0300-\u036f]/g, "");
	return plain.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** The names that the times of edges have. */
const EDGE_TIMES = ["addedAt", "likedAt", "followedAt", "blockedAt"];

function page(
	memory: Memory,
	learned: Learned,
	name: string,
	args: Args,
	context: OracleContext,
): unknown {
	const edges = memory.list(name);
	const { size, backward } = sizeOf(args);
	const after = indexOfCursor(learned, name, edges, args.after);
	const before = indexOfCursor(learned, name, edges, args.before);
	// A backward page is treated as a forward page of the reversed list.
	const reversed = backward ? edges.toReversed() : edges;
	const mirrored = (at: number | null) =>
		at === null ? null : edges.length - 1 - at;
	const [near, far] = backward
		? [mirrored(before), mirrored(after)]
		: [after, before];
	const sees = ({ to }: Edge) => memory.sees(context.viewer, to);
	const start = near === null ? 0 : near + 1;
	const within = reversed.slice(start, far ?? reversed.length);
	const found = within.filter(sees).slice(0, size);
	const last = found.at(-1);
	const end = last === undefined ? start : reversed.indexOf(last) + 1;
	const first = found[0];
	const begin = first === undefined ? start : reversed.indexOf(first);
	// The far cursor may lie before the near one: then objects from it on follow.
	const rest = reversed.slice(Math.min(end, far ?? end));
	const follows = rest.some(sees);
	const precedes = near !== null && reversed.slice(0, begin).some(sees);
	if (
		mayBeShort(within, sees, size) ||
		mayBeShort(within, sees, size + 1) ||
		mayBeShort(rest, sees, 1) ||
		mayBeShort(reversed.slice(0, begin).toReversed(), sees, 1)
	) {
		context.isUncertain = true;
	}
	const shown = (backward ? found.toReversed() : found).map((edge) => ({
		node: edge.to,
		cursor: cursorOf(name, edge.to.id),
		...Object.fromEntries(
			EDGE_TIMES.map((time) => [time, timestampOf(edge.line)]),
		),
	}));
	return {
		edges: shown,
		nodes: shown.map(({ node }) => node),
		pageInfo: {
			hasNextPage: backward ? precedes : follows,
			hasPreviousPage: backward ? follows : precedes,
			startCursor: shown[0]?.cursor ?? null,
			endCursor: shown.at(-1)?.cursor ?? null,
		},
		totalCount: edges.length,
	};
}

function sizeOf({ first, last, after, before }: Args): {
	readonly size: number;
	readonly backward: boolean;
} {
	const given = (value: unknown) =>
		value !== undefined && value !== null && value !== "";
	const sizes = [first, last].filter(given).map(Number);
	if (sizes.length > 1 || sizes.some((size) => size < 0 || size > 100)) {
		throw badInput("first or last");
	}
	const backward =
		given(last) || (!given(first) && given(before) && !given(after));
	return { size: sizes[0] ?? 20, backward };
}

/** The index of a cursor's edge; null without a cursor, or for an empty one. */
function indexOfCursor(
	learned: Learned,
	name: string,
	edges: readonly Edge[],
	cursor: unknown,
): number | null {
	if (cursor === undefined || cursor === null || cursor === "") return null;
	const edge = learned.edgeOf(String(cursor));
	if (edge?.list !== name) throw badInput("a cursor of this list");
	return edges.findIndex(({ to }) => to.id === edge.to);
}

/** Whether four reads, each of as many edges as are still missing, may find fewer than `size` visible ones. */
function mayBeShort(
	edges: readonly Edge[],
	sees: (edge: Edge) => boolean,
	size: number,
): boolean {
	let at = 0;
	let missing = size;
	for (let round = 0; round < 4; round++) {
		if (missing === 0) return false;
		const scanned = edges.slice(at, at + missing);
		if (scanned.length < missing) return false;
		at += missing;
		missing -= scanned.filter(sees).length;
	}
	return missing > 0;
}

function badInput(what: string): GraphQLError {
	return new GraphQLError(`expected ${what}`, {
		extensions: { code: "BAD_USER_INPUT" },
	});
}
