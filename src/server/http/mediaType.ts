import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

const GRAPHQL_PATH = "/graphql";

const JSON_TYPE = "application/json; charset=utf-8";
const GRAPHQL_TYPE = "application/graphql-response+json; charset=utf-8";

/** Whether the response is in the media type that the client prefers. */
export function isNegotiated({ url }: FastifyRequest): boolean {
	return url.split("?", 1)[0] === GRAPHQL_PATH;
}

/**
 * The media type of an error response that Apollo does not send: the one that
 * Apollo would choose, by the same library from the same list (its
 * `chooseContentTypeForSingleResultResponse`, which it does not export). A
 * client that accepts neither gets JSON.
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
