import type { IncomingMessage } from "node:http";
import type { TrustProxy } from "./address.ts";
import { type Encoding, encodingFor } from "./compression.ts";
import { GRAPHQL_PATH, negotiatedType } from "./mediaType.ts";

/** What the short way understands of a request's line and headers. */
export interface RequestHead {
	readonly isGet: boolean;
	/** Of the response. */
	readonly mediaType: string;
	/** Of the response, if it is long enough; null for none. */
	readonly encoding: Encoding | null;
}

/**
 * Reads requests that are as clients send them. Null for every other one: what
 * is malformed, forged, unusual, or for the GraphiQL page is left to Fastify
 * and Apollo.
 */
export class RequestHeadReader {
	readonly #trust: TrustProxy | null;
	readonly #compresses: boolean;
	readonly #mediaTypes = new Remembered(negotiatedType);
	readonly #encodings = new Remembered(encodingFor);
	readonly #hosts = new Remembered(isHost);

	constructor(options: {
		readonly trustProxy: TrustProxy | null;
		readonly compresses: boolean;
	}) {
		this.#trust = options.trustProxy;
		this.#compresses = options.compresses;
	}

	read({ method, url = "", headers }: IncomingMessage): RequestHead | null {
		const isGet = method === "GET";
		if (isGet) {
			if (!url.startsWith(`${GRAPHQL_PATH}?`) || url.includes("#")) return null;
			if (headers["content-type"] !== undefined) return null;
			if (headers["content-length"] !== undefined) return null;
			if (headers["transfer-encoding"] !== undefined) return null;
			// The page, perhaps.
			if (headers.accept?.includes("html")) return null;
		} else {
			if (method !== "POST" || url !== GRAPHQL_PATH) return null;
			if (!isJson(headers["content-type"])) return null;
		}
		if (headers["content-encoding"] !== undefined) return null;
		if (headers["corkboard-explain"] !== undefined) return null;
		if (headers["x-no-compression"] !== undefined) return null;
		if (!this.#isFromHost(headers)) return null;
		const mediaType = this.#mediaTypes.get(headers.accept);
		if (mediaType === null) return null;
		const encoding = this.#compresses
			? this.#encodings.get(headers["accept-encoding"] as string | undefined)
			: null;
		if (encoding === undefined) return null;
		return { isGet, mediaType, encoding };
	}

	#isFromHost(headers: IncomingMessage["headers"]): boolean {
		const { host } = headers;
		if (host === undefined || !this.#hosts.get(host)) return false;
		if (this.#trust === null) return true;
		const named = headers["x-forwarded-host"];
		if (named !== undefined && named !== host) return false;
		const protocol = headers["x-forwarded-proto"];
		return (
			protocol === undefined || protocol === "https" || protocol === "http"
		);
	}
}

function isJson(type: string | undefined): boolean {
	return (
		type === "application/json" ||
		type === "application/json; charset=utf-8" ||
		type === "application/json;charset=utf-8" ||
		type === "application/json; charset=UTF-8" ||
		type === "application/json;charset=UTF-8"
	);
}

function isHost(host: string | undefined): boolean {
	return (
		/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host ?? "") &&
		URL.canParse(`http://${host}/`)
	);
}

/** Most headers that are remembered; clients send few different ones. */
const MAX_REMEMBERED = 100;

/** A function of a header. */
class Remembered<T> {
	readonly #of: (header: string | undefined) => T;
	readonly #known = new Map<string | undefined, T>();

	constructor(of: (header: string | undefined) => T) {
		this.#of = of;
	}

	get(header: string | undefined): T {
		const known = this.#known.get(header);
		if (known !== undefined || this.#known.has(header)) return known as T;
		const value = this.#of(header);
		if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
		this.#known.set(header, value);
		return value;
	}
}
