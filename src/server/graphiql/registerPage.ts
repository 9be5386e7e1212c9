import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { GRAPHQL_PATH, isBrowser } from "../http/content/mediaType.ts";
import { sendError } from "../http/errorResponses.ts";
import { type Admission, NO_PLACE } from "../limits/admission.ts";

/** Responds to a browser that opens `/graphql`. */
export type PageHandler = (
	request: FastifyRequest,
	reply: FastifyReply,
) => Promise<FastifyReply>;

/** The page has the address of the API, whose requests Fastify does not get. */
export function registerPage(
	app: FastifyInstance,
	page: PageHandler,
	admission: Admission,
): void {
	app.route({
		method: ["GET", "POST"],
		url: GRAPHQL_PATH,
		async onRequest(_request, reply) {
			if (admission.isFull()) return sendError(reply, ...NO_PLACE);
		},
		async handler(request, reply) {
			// Another spelling of the path.
			if (!isBrowser(request.raw)) return reply.callNotFound();
			return page(request, reply);
		},
	});
}
