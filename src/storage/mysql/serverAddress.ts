import { CorkboardError } from "../../errors.ts";
import {
	parseHostUrl,
	redactHostUrl,
	type Tls,
} from "../../topology/hostUrl.ts";
import {
	type Environment,
	readSecret,
	type Secret,
} from "../../topology/secret.ts";
import { readTextFileSync } from "../../util/textFile.ts";
import type { ServerAddress } from "./driver/mysql2Connection.ts";

/** Throws BAD_TOPOLOGY if it names no MySQL server, or a password or certificate that cannot be read. */
export function addressOf(
	primary: string,
	environment: Environment,
): ServerAddress {
	const url = parseHostUrl(primary);
	if (url?.scheme !== "mysql") {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The primary of a range must be mysql://USER:PASSWORD@HOST:PORT, got ${redactHostUrl(primary)}.`,
		);
	}
	const { host, port, name, tls } = url;
	const read = (secret: Secret) => readSecret(secret, name, environment);
	// What is missing is found here, not by the first request.
	let last = read(url.password);
	return {
		host,
		port,
		name,
		user: read(url.user),
		password() {
			try {
				last = read(url.password);
			} catch {
				// A file that is being replaced: the password may still be right.
			}
			return last;
		},
		ssl: tls && sslOf(tls, name),
		isLossless: url.isLossless,
	};
}

function sslOf({ mode, ca }: Tls, name: string): ServerAddress["ssl"] {
	return {
		rejectUnauthorized: mode !== "REQUIRED",
		verifyIdentity: mode === "VERIFY_IDENTITY",
		...(ca !== null && { ca: certificatesIn(ca, name) }),
	};
}

function certificatesIn(file: string, name: string): string {
	try {
		return readTextFileSync(file);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The ssl-ca of ${name} must be a file with certificates: ${(cause as Error).message}`,
			{ cause },
		);
	}
}
