/** A host, taken apart: a folder with a SQLite file for each shard, or a MySQL server with a database for each. */
export type HostUrl =
	| { readonly scheme: "sqlite"; readonly folder: string }
	| {
			readonly scheme: "mysql";
			readonly host: string;
			readonly port: number;
			readonly user: string;
			readonly password: string;
			/** `host:port`: how statements, explain and errors name it. */
			readonly name: string;
	  };

const SQLITE = "sqlite:";
const MYSQL = "mysql:";
const MYSQL_PORT = 3306;

/** How they are spelled, for whoever is told what was expected. */
export const HOST_URLS = "sqlite:FOLDER or mysql://USER:PASSWORD@HOST:PORT";

/** Null for a URL we have no driver for, or can make nothing of. */
export function parseHostUrl(url: string): HostUrl | null {
	if (url.startsWith(MYSQL)) return parseMysql(url);
	const folder = url.slice(SQLITE.length);
	return url.startsWith(SQLITE) && folder !== ""
		? { scheme: "sqlite", folder }
		: null;
}

/** A host's URL as it may be shown to anybody: without user and password. */
export function printHostUrl(url: string): string {
	const parsed = parseHostUrl(url);
	if (parsed === null) return "an unknown host";
	return parsed.scheme === "mysql" ? `mysql://${parsed.name}` : url;
}

/** A database, or options, in the URL would be silently ignored: they are refused. */
function parseMysql(text: string): HostUrl | null {
	const url = URL.parse(text);
	if (url === null || url.hostname === "" || url.username === "") return null;
	if (!/^\/?$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
		return null;
	}
	const port = url.port === "" ? MYSQL_PORT : Number(url.port);
	try {
		return {
			scheme: "mysql",
			host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
			port,
			user: decodeURIComponent(url.username),
			password: decodeURIComponent(url.password),
			name: `${url.hostname}:${port}`,
		};
	} catch {
		// A % that begins no character.
		return null;
	}
}
