import { optionFault } from "../util/urlOptions.ts";
import { type Secret, secretIn } from "./secret.ts";

/** A parsed host URL: a folder with a SQLite file for each shard, or a MySQL server with a database for each. */
export type HostUrl =
	| { readonly scheme: "sqlite"; readonly folder: string }
	| {
			readonly scheme: "mysql";
			readonly host: string;
			readonly port: number;
			readonly user: Secret;
			readonly password: Secret;
			/** `host:port`, as in statements, explain and errors. */
			readonly name: string;
			/** Null for an unencrypted connection. */
			readonly tls: Tls | null;
			/** Whether a failover behind the name loses nothing that was acknowledged, as the provider says. */
			readonly isLossless: boolean;
	  };

/** How a server's certificate is checked; the modes are those of MySQL's `ssl-mode`. */
export interface Tls {
	/** Checks nothing; the signer; or the signer and the host name. */
	readonly mode: "REQUIRED" | "VERIFY_CA" | "VERIFY_IDENTITY";
	/** Path of a file with the certificates of trusted signers; null for those that Node trusts. */
	readonly ca: string | null;
}

const SQLITE = "sqlite:";
const MYSQL = "mysql:";
const MYSQL_PORT = 3306;

/** The forms of a host URL, for error messages. */
export const HOST_URL_FORMS =
	"sqlite:FOLDER or mysql://[USER:PASSWORD@]HOST:PORT[?ssl-mode=MODE[&ssl-ca=FILE][&password-file=FILE][&failover=lossless]]";

/** The options of a MySQL URL. */
const MYSQL_OPTIONS = ["ssl-mode", "ssl-ca", "password-file", "failover"];

/** What is wrong with the options of a host URL; null if nothing is, or more than that. */
export function hostOptionFault(text: string): string | null {
	const url = URL.parse(text);
	if (url === null) return null;
	if (url.protocol === SQLITE) return optionFault(url, []);
	return url.protocol === MYSQL ? optionFault(url, MYSQL_OPTIONS) : null;
}

/** Null for an invalid URL, an unknown scheme or an option that does not exist. */
export function parseHostUrl(url: string): HostUrl | null {
	if (hostOptionFault(url) !== null) return null;
	if (url.startsWith(MYSQL)) return parseMysql(url);
	const folder = url.slice(SQLITE.length);
	return url.startsWith(SQLITE) && folder !== ""
		? { scheme: "sqlite", folder }
		: null;
}

/** A host's URL without user and password. */
export function redactHostUrl(url: string): string {
	const parsed = parseHostUrl(url);
	if (parsed === null) return "an unknown host";
	return parsed.scheme === "mysql" ? `mysql://${parsed.name}` : url;
}

/** URLs with a database are rejected, because it would be ignored. */
function parseMysql(text: string): HostUrl | null {
	const url = URL.parse(text);
	if (url === null || url.hostname === "") return null;
	if (!/^\/?$/.test(url.pathname) || url.hash !== "") return null;
	// Variables stand for secrets: where a shard is, the file itself says.
	if (url.host.includes("$")) return null;
	const { searchParams: options } = url;
	const file = options.get("password-file");
	if (file === "" || (file !== null && url.password !== "")) return null;
	const failover = options.get("failover");
	if (failover !== null && failover !== "lossless") return null;
	const isNamed = url.username !== "";
	if (!isNamed && (url.password !== "" || file !== null)) return null;
	const tls = tlsIn(options);
	if (tls === undefined) return null;
	const port = url.port === "" ? MYSQL_PORT : Number(url.port);
	try {
		const user: Secret | null = isNamed
			? secretIn(url.username)
			: { account: "user" };
		const password: Secret | null = !isNamed
			? { account: "password" }
			: file === null
				? secretIn(url.password)
				: { file };
		if (user === null || password === null) return null;
		return {
			scheme: "mysql",
			host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
			port,
			user,
			password,
			name: `${url.hostname}:${port}`,
			tls,
			isLossless: failover !== null,
		};
	} catch {
		// An invalid percent-encoding.
		return null;
	}
}

/** Options as in the URIs of MySQL's own tools; undefined if they are invalid. */
function tlsIn(options: URLSearchParams): Tls | null | undefined {
	const mode = options.get("ssl-mode");
	const ca = options.get("ssl-ca");
	if (ca === "") return undefined;
	if (mode === null || mode === "DISABLED") {
		return ca === null ? null : undefined;
	}
	if (mode === "REQUIRED") return ca === null ? { mode, ca } : undefined;
	return mode === "VERIFY_CA" || mode === "VERIFY_IDENTITY"
		? { mode, ca }
		: undefined;
}
