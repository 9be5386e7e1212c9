import { SignJWT } from "jose";
import { documentIdOf } from "./queries.ts";
import { SECRET } from "./servers/corkboard.ts";
import type { Way } from "./variants.ts";

export interface Question {
	readonly text: string;
	readonly variables: Readonly<Record<string, unknown>>;
}

/** A whole HTTP request, as it goes over the wire. */
export function spellRequest(
	{ text, variables }: Question,
	way: Way,
	{
		token,
		path = "/graphql",
		padding = 0,
	}: {
		token?: string;
		path?: string;
		/** Spaces after the body: a request that means the same and is another one. */
		padding?: number;
	} = {},
): string {
	if (way === "get") {
		const parameters = new URLSearchParams({
			documentId: documentIdOf(text),
			variables: JSON.stringify(variables),
		});
		return `GET ${path}?${parameters} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
	}
	const content =
		way === "text"
			? { query: text, variables }
			: { documentId: documentIdOf(text), variables };
	const body = JSON.stringify(content) + " ".repeat(padding);
	return [
		`POST ${path} HTTP/1.1`,
		"host: localhost",
		"content-type: application/json",
		`content-length: ${Buffer.byteLength(body)}`,
		...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
		...(way === "gzip" ? ["accept-encoding: gzip"] : []),
		"",
		body,
	].join("\r\n");
}

/** An access token of a user, which Corkboard and the peer with mutations accept. */
export function signToken(user: string): Promise<string> {
	return new SignJWT()
		.setProtectedHeader({ alg: "HS256" })
		.setSubject(user)
		.setIssuedAt()
		.setExpirationTime("1d")
		.sign(Buffer.from(SECRET));
}
