/** Apollo Server with DataLoader and Drizzle on MySQL: what many teams would write. */
import { serveApollo } from "./apollo.ts";
import { database } from "./drizzleDatabase.ts";

await serveApollo(database);
