/** GraphQL Yoga on node:http, with DataLoader. */
import { createServer } from "node:http";
import { createSchema, createYoga } from "graphql-yoga";
import { createLoaders, loaderResolvers } from "./loaders.ts";
import { openRelational } from "./relational.ts";
import { typeDefs } from "./schema.ts";
import { databaseUrl, reportPort } from "./serving.ts";

const database = openRelational(databaseUrl());
const yoga = createYoga({
	schema: createSchema({ typeDefs, resolvers: loaderResolvers }),
	context: () => ({ loaders: createLoaders(database) }),
	graphiql: false,
	logging: "warn",
});
const server = createServer(yoga);
server.listen(0, "127.0.0.1", () => reportPort(server.address()));
