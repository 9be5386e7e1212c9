/** Mercurius on Fastify, with its JIT from the second execution on and its own batching loaders. */
import fastify from "fastify";
import mercurius from "mercurius";
import {
	connectionResolvers,
	openRelational,
	type PageName,
	type Row,
	type Table,
} from "./relational.ts";
import {
	rootResolvers,
	type ViewerContext,
	viewerFollows,
	viewerLikes,
} from "./roots.ts";
import { typeDefs } from "./schema.ts";
import { databaseUrl, reportPort } from "./serving.ts";
import { readViewer } from "./viewer.ts";

declare module "mercurius" {
	interface MercuriusContext extends ViewerContext {}
}

interface LoaderQuery {
	readonly obj: Row;
	readonly params: { readonly first: number; readonly after?: string | null };
}

const database = openRelational(databaseUrl());

/** Without the cache of the request: on these queries the keys of it cost more than it saves. */
const loader = (
	load: (queries: LoaderQuery[], context: ViewerContext) => Promise<unknown[]>,
) => ({
	loader: load,
	opts: { cache: false },
});
const page = (name: PageName) =>
	loader((queries) =>
		database.pages(
			name,
			queries.map(({ obj, params: { first, after } }) => ({
				id: obj.id,
				first,
				after: after ?? undefined,
			})),
		),
	);
const reference = (table: Table, column: string) =>
	loader((queries) =>
		database.byIds(
			table,
			queries.map(({ obj }) => obj[column] as number),
		),
	);
const root =
	(table: Table) =>
	async (_: unknown, { id }: { id: string }) =>
		(await database.byIds(table, [Number(id)]))[0];

const { Query, ...roots } = rootResolvers(database);
const app = fastify();
app.register(mercurius, {
	schema: typeDefs,
	jit: 1,
	context: async ({ headers }) => ({
		viewer: await readViewer(headers.authorization),
	}),
	resolvers: {
		...roots,
		Query: {
			...Query,
			user: root("users"),
			board: root("boards"),
			pin: root("pins"),
		},
		...connectionResolvers,
	},
	loaders: {
		User: {
			boards: page("boardsOfUser"),
			pins: page("pinsOfUser"),
			following: page("following"),
			counts: loader((queries) =>
				database.userCounts(queries.map(({ obj }) => obj.id)),
			),
			viewerFollows: loader((queries, { viewer }) =>
				viewerFollows(
					database,
					viewer,
					queries.map(({ obj }) => obj.id),
				),
			),
		},
		Board: {
			owner: reference("users", "owner_id"),
			pins: page("pinsOfBoard"),
		},
		Pin: {
			owner: reference("users", "owner_id"),
			board: reference("boards", "board_id"),
			viewerLikes: loader((queries, { viewer }) =>
				viewerLikes(
					database,
					viewer,
					queries.map(({ obj }) => obj.id),
				),
			),
			likeCount: loader((queries) =>
				database.likeCounts(queries.map(({ obj }) => obj.id)),
			),
			likedBy: page("likedBy"),
		},
	},
});
await app.listen({ port: 0, host: "127.0.0.1" });
reportPort(app.server.address());
