import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import {
	type LoaderContext,
	loaderContext,
	loaderResolvers,
} from "./loaders.ts";
import type { Relational } from "./relational.ts";
import { typeDefs } from "./schema.ts";
import { readViewer } from "./viewer.ts";

/** Serves the database with Apollo Server and DataLoader. */
export async function serveApollo(database: Relational): Promise<void> {
	const server = new ApolloServer<LoaderContext>({
		typeDefs,
		resolvers: loaderResolvers(database) as never,
	});
	const { url } = await startStandaloneServer(server, {
		listen: { port: 0, host: "127.0.0.1" },
		context: async ({ req }) =>
			loaderContext(database, await readViewer(req.headers.authorization)),
	});
	console.log(`listening on ${new URL(url).port}`);
}
