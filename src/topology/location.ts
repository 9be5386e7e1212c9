/** Where a topology is kept. */
export type TopologyLocation =
	| { readonly scheme: "file"; readonly file: string }
	| {
			readonly scheme: "zk";
			/** `host:port` of each server. */
			readonly servers: readonly string[];
			/** The path of the node below which everything is: `/corkboard`. */
			readonly path: string;
			/** Path of a file with `user:password`, which connections are authenticated with; null: none. */
			readonly authFile: string | null;
	  };

const ZOOKEEPER = "zk://";
const ZOOKEEPER_PORT = 2181;
const SERVER = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/;
const NODE = /^(?:\/[A-Za-z0-9._-]+)+$/;

/** A path of a file, or `zk://host:port,host:port/path`. Undefined if it is neither. */
export function parseTopologyLocation(
	text: string,
): TopologyLocation | undefined {
	if (!text.startsWith(ZOOKEEPER)) {
		return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
			? undefined
			: { scheme: "file", file: text };
	}
	const rest = text.slice(ZOOKEEPER.length);
	const slash = rest.indexOf("/");
	const path = slash === -1 ? "" : rest.slice(slash);
	const hosts = (slash === -1 ? rest : rest.slice(0, slash)).split(",");
	if (!NODE.test(path)) return undefined;
	const servers: string[] = [];
	for (const host of hosts) {
		const match = SERVER.exec(host);
		const port = Number(match?.[1] ?? ZOOKEEPER_PORT);
		if (match === null || port < 1 || port > 65_535) return undefined;
		servers.push(match[1] === undefined ? `${host}:${port}` : host);
	}
	return { scheme: "zk", servers, path, authFile: null };
}

/** As it is configured and printed. */
export function topologyName(location: TopologyLocation): string {
	return location.scheme === "file"
		? location.file
		: `${ZOOKEEPER}${location.servers.join(",")}${location.path}`;
}
