/** PostGraphile 5 on PostgreSQL, with its standard preset. */
import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { CONNECTIONS } from "./relational.ts";
import { databaseUrl, reportPort } from "./serving.ts";

const instance = postgraphile({
	extends: [PostGraphileAmberPreset],
	pgServices: [
		makePgService({
			connectionString: databaseUrl(),
			schemas: ["public"],
			poolConfig: { max: CONNECTIONS },
		}),
	],
	grafserv: { graphiql: false, graphqlPath: "/graphql", watch: false },
});
const server = createServer();
await instance.createServ(grafserv).addTo(server);
server.listen(0, "127.0.0.1", () => reportPort(server.address()));
