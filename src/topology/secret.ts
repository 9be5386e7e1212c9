import { CorkboardError } from "../errors.ts";
import { readTextFileSync } from "../util/textFile.ts";

/** A password of a host URL: itself, or where it is. What a URL names is looked up when it is used, and kept nowhere. */
export type Secret =
	| string
	/** Texts, and names of environment variables, one after the other. */
	| { readonly parts: readonly (string | { readonly variable: string })[] }
	/** Path of a file that holds it; a line end after it does not count. */
	| { readonly file: string }
	/** This part of the account in the file that `CORKBOARD_MYSQL_FILE` names. */
	| { readonly account: "user" | "password" };

export type Environment = Readonly<Record<string, string | undefined>>;

/** `${NAME}` in the user or password of a parsed URL, which encodes the braces. */
const VARIABLE = /(\$%7B[A-Za-z_][A-Za-z0-9_]*%7D)/i;

/** The user or password of a URL. Null if a `${` in it begins no variable. Throws URIError for an invalid percent-encoding. */
export function secretIn(encoded: string): Secret | null {
	const parts = encoded
		.split(VARIABLE)
		.filter((part) => part !== "")
		.map((part) =>
			VARIABLE.test(part)
				? { variable: part.slice(4, -3) }
				: decodeURIComponent(part),
		);
	const isText = (part: string | object) => typeof part === "string";
	if (encoded.replaceAll(new RegExp(VARIABLE, "gi"), "").includes("$%7B")) {
		return null;
	}
	return parts.every(isText) ? parts.join("") : { parts };
}

/** The password itself. Throws BAD_TOPOLOGY, naming the host, if the variable is not set or the file cannot be read. */
export function readSecret(
	secret: Secret,
	host: string,
	environment: Environment,
): string {
	if (typeof secret === "string") return secret;
	if ("file" in secret) return readSecretFile(secret.file, host);
	if ("account" in secret) {
		return readAccount(secret.account, host, environment);
	}
	return secret.parts
		.map((part) => {
			if (typeof part === "string") return part;
			const value = environment[part.variable];
			if (value === undefined || value === "") {
				throw new CorkboardError(
					"BAD_TOPOLOGY",
					`The URL of ${host} takes its user or password from the environment variable ${part.variable}, which is not set.`,
				);
			}
			return value;
		})
		.join("");
}

function readSecretFile(file: string, host: string): string {
	let text: string;
	try {
		text = readTextFileSync(file);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The password-file of ${host} cannot be read: ${(cause as Error).message}`,
			{ cause },
		);
	}
	return text.replace(/\r?\n$/, "");
}

/** Where the account of hosts without one in their URL is: JSON with `user` and `password`. */
export const ACCOUNT_FILE = "CORKBOARD_MYSQL_FILE";

function readAccount(
	part: "user" | "password",
	host: string,
	environment: Environment,
): string {
	const file = environment[ACCOUNT_FILE];
	const fail = (problem: string, cause?: unknown) =>
		new CorkboardError("BAD_TOPOLOGY", problem, { cause });
	if (file === undefined || file === "") {
		throw fail(
			`The URL of ${host} names no user, so ${ACCOUNT_FILE} must name a file with {"user": …, "password": …}.`,
		);
	}
	let account: unknown;
	try {
		account = JSON.parse(readTextFileSync(file));
	} catch (cause) {
		// The message of a JSON error may quote the password.
		const isJson = cause instanceof SyntaxError;
		throw fail(
			`${ACCOUNT_FILE}, for ${host}, ${isJson ? "is not JSON" : `cannot be read: ${(cause as Error).message}`}.`,
			isJson ? undefined : cause,
		);
	}
	const value = (account as Record<string, unknown> | null)?.[part];
	if (typeof value === "string" && (part === "password" || value !== "")) {
		return value;
	}
	throw fail(
		`${ACCOUNT_FILE}, for ${host}, must hold {"user": …, "password": …} and has no ${part}.`,
	);
}
