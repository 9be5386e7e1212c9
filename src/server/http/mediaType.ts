import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

const GRAPHQL_PATH = "/graphql";

const JSON_TYPE = "application/json; charset=utf-8";
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";

/** Whether an answer to this is in the media type the client prefers. */
export function isNegotiated({ url }: FastifyRequest): boolean {
	return url.split("?", 1)[0] === GRAPHQL_PATH;
}

/**
 * The media type of what is refused before Apollo sees it: the one that Apollo
 * would have chosen, by the same library from the same list (its
 * `chooseContentTypeForSingleResultResponse`, which it does not export). Also a
 * client that takes neither is told why.
 */
export function mediaTypeFor(request: FastifyRequest): string {
	const { accept } = request.headers;
	if (!accept || !isNegotiated(request)) return JSON_TYPE;
	return (
		new Negotiator({ headers: { accept } }).mediaType([
			JSON_TYPE,
			GRAPHQL_TYPE,
		]) ?? JSON_TYPE
	);
}
