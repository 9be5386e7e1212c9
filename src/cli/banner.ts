import { join } from "node:path";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";

/** What a newcomer reads when the server is up. */
export function banner(server: {
	readonly url: string;
	readonly graphiql: boolean;
	/** The embedded data folder; null with a topology. */
	readonly folder: string | null;
	readonly demo?: Demo;
}): string {
	const { url, folder, demo } = server;
	const address = `${url}/graphql`;
	return [
		"",
		`Corkboard serves ${address}`,
		...(server.graphiql
			? ["  Open it in a browser for GraphiQL, or try:"]
			: ["  Try:"]),
		"",
		`  ${curl(address, demo ? shortQuery(demo.username) : ANY_QUERY)}`,
		"",
		...(demo
			? [
					`Demo user  ${demo.username}`,
					`Token      ${demo.token}`,
					"  Send it as `Authorization: Bearer TOKEN` and the demo user is the viewer; GraphiQL has it filled in.",
				]
			: []),
		...(folder === null ? [] : [`Data       ${join(folder, "/")}`]),
		"",
		"Ctrl-C stops it.",
		"",
	].join("\n");
}

const ANY_QUERY = "{ interests(first: 5) { nodes { slug name } } }";

function shortQuery(username: string): string {
	return `{ user(username: "${username}") { name boards(first: 2) { nodes { name pins(first: 2) { nodes { details } } } } } }`;
}

/** One line for a POSIX shell; the queries hold no single quotes. */
function curl(address: string, query: string): string {
	return `curl -s ${address} -H 'content-type: application/json' -d '${JSON.stringify({ query })}'`;
}
