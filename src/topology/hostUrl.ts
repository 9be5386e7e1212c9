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
			/** Null for a connection that anybody on the way can read. */
			readonly tls: Tls | null;
	  };

/** What of a server's certificate is checked; the modes are MySQL's own `ssl-mode`. */
export interface Tls {
	/** Nothing; who signed it; that, and that it is of this very host. */
	readonly mode: "REQUIRED" | "VERIFY_CA" | "VERIFY_IDENTITY";
	/** Path of the certificates of who may sign it; null for those that Node trusts. */
	readonly ca: string | null;
}

const SQLITE = "sqlite:";
const MYSQL = "mysql:";
const MYSQL_PORT = 3306;

/** How they are spelled, for whoever is told what was expected. */
export const HOST_URL_FORMS =
	"sqlite:FOLDER or mysql://USER:PASSWORD@HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE]]";

/** Null for a URL we have no driver for, or can make nothing of. */
export function parseHostUrl(url: string): HostUrl | null {
	if (url.startsWith(MYSQL)) return parseMysql(url);
	const folder = url.slice(SQLITE.length);
	return url.startsWith(SQLITE) && folder !== ""
		? { scheme: "sqlite", folder }
		: null;
}

/** A host's URL as it may be shown to anybody: without user and password. */
export function redactHostUrl(url: string): string {
	const parsed = parseHostUrl(url);
	if (parsed === null) return "an unknown host";
	return parsed.scheme === "mysql" ? `mysql://${parsed.name}` : url;
}

/** A database, or other options, in the URL would be silently ignored: they are refused. */
function parseMysql(text: string): HostUrl | null {
	const url = URL.parse(text);
	if (url === null || url.hostname === "" || url.username === "") return null;
	if (!/^\/?$/.test(url.pathname) || url.hash !== "") return null;
	const tls = tlsIn(url.searchParams);
	if (tls === undefined) return null;
	const port = url.port === "" ? MYSQL_PORT : Number(url.port);
	try {
		return {
			scheme: "mysql",
			host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
			port,
			user: decodeURIComponent(url.username),
			password: decodeURIComponent(url.password),
			name: `${url.hostname}:${port}`,
			tls,
		};
	} catch {
		// A % that begins no character.
		return null;
	}
}

/** As in the URIs of MySQL's own tools; undefined for what is none. */
function tlsIn(options: URLSearchParams): Tls | null | undefined {
	const given = Object.fromEntries(options);
	const { "ssl-mode": mode, "ssl-ca": ca = null, ...others } = given;
	// Each once, and none that would be silently ignored.
	if (options.size > Object.keys(given).length) return undefined;
	if (Object.keys(others).length > 0 || ca === "") return undefined;
	if (mode === undefined || mode === "DISABLED") {
		return ca === null ? null : undefined;
	}
	if (mode === "REQUIRED") return ca === null ? { mode, ca } : undefined;
	return mode === "VERIFY_CA" || mode === "VERIFY_IDENTITY"
		? { mode, ca }
		: undefined;
}
