import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

export const GRAPHQL_PATH = "/graphql";

export const JSON_TYPE = "application/json; charset=utf-8";
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";

/** The path of a URL as it was sent; a proxy may send all of it. */
function pathOf(url: string): string {
	const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/]*/, "");
	const end = path.search(/[?#]/);
	return end < 0 ? path : path.slice(0, end);
}

/** The parameters of a URL, without the question mark. */
export function searchOf(url: string): string {
	const start = url.indexOf("?");
	if (start < 0) return "";
	const end = url.indexOf("#", start);
	return url.slice(start + 1, end < 0 ? url.length : end);
}

/** Whether a program sends it to the API. */
export function isGraphqlRequest(message: IncomingMessage): boolean {
	const { method, url = "" } = message;
	return (
		(method === "POST" || method === "GET" || method === "HEAD") &&
		pathOf(url) === GRAPHQL_PATH &&
		!isBrowser(message)
	);
}

/** Whether a person opened the address. Programs accept JSON or any type. */
export function isBrowser({
	method,
	headers: { accept = "" },
}: IncomingMessage): boolean {
	return (
		method === "GET" &&
		/\btext\/html\b/i.test(accept) &&
		!/\bapplication\/(?:graphql-response\+)?json\b/i.test(accept)
	);
}

/** Whether the response is in the media type that the client prefers. */
export function isNegotiated({ url }: FastifyRequest): boolean {
	return pathOf(url) === GRAPHQL_PATH;
}

/**
 * The media type of an error response of Fastify: at the API's path the one that
 * Apollo would choose. A client that accepts neither gets JSON.
 */
export function mediaTypeFor(request: FastifyRequest): string {
	return isNegotiated(request)
		? (negotiatedType(request.headers.accept) ?? JSON_TYPE)
		: JSON_TYPE;
}

/**
 * The media type that Apollo would choose, by the same library from the same
 * list (its `chooseContentTypeForSingleResultResponse`, which it does not
 * export); null if the client accepts neither.
 */
export function negotiatedType(accept: string | undefined): string | null {
	if (!accept) return JSON_TYPE;
	return (
		new Negotiator({ headers: { accept } }).mediaType([
			JSON_TYPE,
			GRAPHQL_TYPE,
		]) ?? null
	);
}
