import { CorkboardError } from "../../errors.ts";
import { cacheServerName, cacheUrlFault } from "../../topology/caches.ts";
import { readTextFileSync } from "../../util/textFile.ts";

/** How to connect to a Redis. */
export interface RedisAddress {
	/** `redis://…` without options, whether it is encrypted or not. */
	readonly url: string;
	/** Host and port: the part that may be logged. */
	readonly host: string;
	/** Null for an unencrypted connection; else certificates of trusted signers, if not those that Node trusts. */
	readonly tls: { readonly ca?: string } | null;
	/** The password in the file, as it is now; undefined: the URL has it, or there is none. */
	readonly password: () => string | undefined;
}

/** Host and port of a URL. Throws BAD_CONFIG if it is not valid. */
function redisHost(text: string): string {
	const fault = cacheUrlFault("lists", text);
	if (fault !== null) {
		throw new CorkboardError("BAD_CONFIG", `The Redis URL: ${fault}.`);
	}
	return cacheServerName("lists", text);
}

/** Throws BAD_CONFIG, also if the certificates cannot be read. */
export function redisAddress(text: string): RedisAddress {
	const host = redisHost(text);
	const { protocol, searchParams } = new URL(text);
	const ca = searchParams.get(CA);
	const file = searchParams.get(PASSWORD_FILE);
	let last = file === null ? undefined : passwordIn(file, host);
	return {
		password() {
			try {
				if (file !== null) last = passwordIn(file, host);
			} catch {
				// A file that is being replaced: the password may still be right.
			}
			return last;
		},
		url: text.replace(/\?.*$/s, "").replace(/^rediss:/, "redis:"),
		host,
		tls:
			protocol === "redis:"
				? null
				: ca === null
					? {}
					: { ca: certificatesIn(ca, host) },
	};
}

/** As in a URL of MySQL. */
const CA = "ssl-ca";
const PASSWORD_FILE = "password-file";

function passwordIn(file: string, host: string): string {
	try {
		return readTextFileSync(file).trim();
	} catch (cause) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`The password-file of Redis ${host} cannot be read: ${(cause as Error).message}`,
			{ cause },
		);
	}
}

function certificatesIn(file: string, host: string): string {
	try {
		return readTextFileSync(file);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`The ssl-ca of Redis ${host} must be a file with certificates: ${(cause as Error).message}`,
			{ cause },
		);
	}
}
