import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CorkboardError } from "../../errors.ts";

export const METRICS_PATH = "/metrics";
export const LIVE_PATH = "/health/live";
export const READY_PATH = "/health/ready";
/** The path of a kept request, without its id. */
export const REQUESTS_PATH = "/requests/";

const PATHS: readonly string[] = [METRICS_PATH, LIVE_PATH, READY_PATH];

export interface AdminAddress {
	readonly host: string;
	readonly port: number;
}

export interface AdminResponse {
	readonly status: number;
	readonly contentType: string;
	readonly text: string;
	/** Seconds, of an answer that was given before. */
	readonly age?: number;
}

/** Answers one of the paths above; with `isFresh` by no answer that was given before. Never rejects. */
export type AskAdmin = (
	path: string,
	isFresh?: boolean,
) => Promise<AdminResponse>;

export interface AdminServer extends AsyncDisposable {
	/** Without a path: `http://127.0.0.1:9464`. */
	readonly url: string;
}

const LIMITS = {
	headersTimeout: 5_000,
	requestTimeout: 5_000,
	keepAliveTimeout: 65_000,
	maxConnections: 64,
} as const;

/**
 * Serves operators on an address of its own, which the public does not reach:
 * nothing here asks for a token. Throws IN_USE if the port is taken.
 */
export async function startAdminServer(
	{ host, port }: AdminAddress,
	answer: AskAdmin,
): Promise<AdminServer> {
	const server = createServer(LIMITS, (request, response) => {
		const { method, url = "", headers } = request;
		const path = url.split("?", 1)[0] as string;
		if (method !== "GET" && method !== "HEAD") {
			send(response, plainText(405, "Only GET is accepted."));
		} else if (PATHS.includes(path) || path.startsWith(REQUESTS_PATH)) {
			const isFresh = headers["cache-control"] === "no-cache";
			void answer(path, isFresh).then((found) => send(response, found));
		} else {
			const paths = PATHS.join(", ");
			send(
				response,
				plainText(404, `There are ${paths} and ${REQUESTS_PATH}ID.`),
			);
		}
	});
	server.maxConnections = LIMITS.maxConnections;
	server.listen({ host, port });
	try {
		await once(server, "listening");
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		const isUsed = code === "EADDRINUSE";
		throw new CorkboardError(
			isUsed ? "IN_USE" : "BAD_CONFIG",
			isUsed
				? `Port ${port} on ${host}, for CORKBOARD_ADMIN, is used by another program. Set another one.`
				: `Cannot listen on ${host} port ${port} for CORKBOARD_ADMIN: ${code ?? String(cause)}.`,
			{ cause },
		);
	}
	const { address, family, port: bound } = server.address() as AddressInfo;
	const name = family === "IPv6" ? `[${address}]` : address;
	return {
		url: `http://${name}:${bound}`,
		async [Symbol.asyncDispose]() {
			server.close();
			server.closeAllConnections();
			await once(server, "close");
		},
	};
}

export function plainText(status: number, sentence: string): AdminResponse {
	return { status, contentType: "text/plain", text: `${sentence}\n` };
}

function send(
	response: ServerResponse,
	{ status, contentType, text, age }: AdminResponse,
): void {
	response.writeHead(status, {
		"content-type": contentType,
		"content-length": Buffer.byteLength(text),
		"cache-control": "no-store",
		...(age !== undefined && { age: String(age) }),
	});
	response.end(text);
}
