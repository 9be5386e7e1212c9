import { join } from "node:path";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";

/** What `serve` prints in development when the server is up. */
export function banner(server: {
	readonly url: string;
	readonly graphiql: boolean;
	/** The embedded data folder; null with a topology. */
	readonly folder: string | null;
	readonly demo?: Demo;
	/** Whether the demo user's token is shown, or only how to get it. */
	readonly showsToken: boolean;
	/** Whether it runs persisted documents only. */
	readonly strict: boolean;
	/** To try. It contains no single quotes. */
	readonly firstQuery: string;
}): string {
	const { url, folder, demo, strict, showsToken, firstQuery } = server;
	const address = `${url}/graphql`;
	return [
		"",
		`Corkboard serves ${address}`,
		...(strict
			? ["  It runs the documents of CORKBOARD_DOCUMENT_FILES only. Try:"]
			: server.graphiql
				? ["  Open it in a browser for GraphiQL, or try:"]
				: ["  Try:"]),
		"",
		// No document of ours is among those of a client.
		strict ? `  curl -s ${url}/health/ready` : `  ${curl(address, firstQuery)}`,
		"",
		...(demo
			? [
					`Demo user  ${demo.username}`,
					`Token      ${showsToken ? demo.token : `npm run -s corkboard -- tokens create ${demo.username}`}`,
					"  Send `Authorization: Bearer TOKEN` to be the demo user. GraphiQL sends it already.",
				]
			: []),
		...(folder === null ? [] : [`Data       ${join(folder, "/")}`]),
		"",
		"Press Ctrl-C to stop.",
		"",
	].join("\n");
}

/** One line for a POSIX shell. */
function curl(address: string, query: string): string {
	return `curl -s ${address} -H 'content-type: application/json' -d '${JSON.stringify({ query })}'`;
}
