import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

export const GRAPHQL_PATH = "/graphql";

const JSON_TYPE = "application/json; charset=utf-8";
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";

/** Whether the response is in the media type that the client prefers. */
export function isNegotiated({ url }: FastifyRequest): boolean {
	return url.split("?", 1)[0] === GRAPHQL_PATH;
}

/**
 * The media type of an error response that Apollo does not send: the one that
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
 * export); null where the client accepts neither.
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
