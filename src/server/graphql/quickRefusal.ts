import type { IncomingMessage } from "node:http";
import { SERVER_CHANNELS } from "../diagnostics.ts";
import { RETRY_AFTER } from "../http/clientError.ts";
import { clientNameOf } from "../http/clientName.ts";
import { JSON_TYPE, negotiatedType } from "../http/content/mediaType.ts";
import {
	type AllowedOrigins,
	allowedOrigin,
	allowsAll,
	EXPOSED_HEADERS,
} from "../http/cors.ts";
import { errorBody } from "../http/errorResponses.ts";
import { Remembered } from "../http/remembered.ts";
import { NO_OPERATION } from "../http/requestOutcome.ts";
import { NO_PLACE } from "../limits/admission.ts";

const BODY = errorBody(...NO_PLACE);

/**
 * The response to a request that is not carried out. Under several times what a
 * process carries most requests are such, and what one of them costs decides how
 * much is left for the others: so it is neither looked at nor logged by itself,
 * and the responses differ by their ids alone.
 */
export class QuickRefusal {
	/** From the id on, by what it depends on. */
	readonly #texts: Remembered<string>;

	constructor(origins: AllowedOrigins) {
		this.#texts = new Remembered((of = "") => {
			const [method, accept, origin] = of.split("\n");
			const allowed = allowedOrigin(origins, origin || undefined);
			const byMethod = method === "GET" ? ", Authorization" : "";
			const byOrigin = allowsAll(origins) ? "" : ", Origin";
			return [
				"",
				"x-content-type-options: nosniff",
				"cache-control: no-store",
				`vary: Accept${byMethod}${byOrigin}`,
				`access-control-expose-headers: ${EXPOSED_HEADERS}`,
				...(allowed === null
					? []
					: [`access-control-allow-origin: ${allowed}`]),
				`retry-after: ${RETRY_AFTER}`,
				`content-type: ${negotiatedType(accept) ?? JSON_TYPE}`,
				`content-length: ${Buffer.byteLength(BODY)}`,
				"",
				BODY,
			].join("\r\n");
		});
	}

	/** The whole of it. */
	of({ method, headers }: IncomingMessage, id: string): string {
		if (SERVER_CHANNELS.request.hasSubscribers) {
			SERVER_CHANNELS.request.publish({
				...NO_OPERATION,
				client: clientNameOf(headers),
				status: 503,
				ms: 0,
				requestId: id,
				traceId: null,
			});
		}
		const { accept = "", origin = "" } = headers;
		const text = this.#texts.get(`${method}\n${accept}\n${origin}`);
		return `HTTP/1.1 503 Service Unavailable\r\nx-request-id: ${id}${text}`;
	}
}
