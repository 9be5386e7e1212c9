/** GraphQL Yoga on node:http, with DataLoader. */
import { createServer } from "node:http";
import { createSchema, createYoga } from "graphql-yoga";
import { loaderContext, loaderResolvers } from "./loaders.ts";
import { openRelational } from "./relational.ts";
import { typeDefs } from "./schema.ts";
import { databaseUrl, reportPort } from "./serving.ts";
import { readViewer } from "./viewer.ts";

const database = openRelational(databaseUrl());
const yoga = createYoga({
	schema: createSchema({
		typeDefs,
		resolvers: loaderResolvers(database) as never,
	}),
	context: async ({ request }) =>
		loaderContext(
			database,
			await readViewer(request.headers.get("authorization") ?? undefined),
		),
	graphiql: false,
	logging: "warn",
});
const server = createServer(yoga);
server.listen(0, "127.0.0.1", () => reportPort(server.address()));
