import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CorkboardError } from "../../errors.ts";

/** What an operator asks a process over the admin address. */
export interface AdminPages {
	/** For Prometheus. Rejects where it takes too long. */
	metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
	/** What a request did, as JSON, by an id that its answer or its trace has; null if it is not kept. */
	findRequest(id: string): Promise<string | null>;
}

/** The path of a request that is kept, without its id. */
export const REQUESTS_PATH = "/requests/";

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
 * nothing here asks for a token. Throws IN_USE where the port is taken.
 */
export async function startAdminServer(
	{ host, port }: { readonly host: string; readonly port: number },
	pages: AdminPages,
): Promise<AdminServer> {
	const server = createServer(LIMITS, ({ method, url = "" }, response) => {
		const path = url.split("?", 1)[0];
		if (method !== "GET" && method !== "HEAD") {
			send(response, 405, "text/plain", "Only GET is accepted.\n");
		} else if (path === "/metrics") {
			pages.metrics().then(
				({ contentType, text }) => send(response, 200, contentType, text),
				(error) => send(response, 503, "text/plain", `${error.message}\n`),
			);
		} else if (path?.startsWith(REQUESTS_PATH)) {
			findRequest(pages, path.slice(REQUESTS_PATH.length)).then(
				(text) =>
					text === null
						? send(response, 404, "text/plain", "Not kept.\n")
						: send(response, 200, "application/json", text),
				(error) => send(response, 503, "text/plain", `${error.message}\n`),
			);
		} else {
			send(
				response,
				404,
				"text/plain",
				`There are /metrics and ${REQUESTS_PATH}ID.\n`,
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

/** An id may have characters that a URL encodes: a proxy's has, such as `Root=1-67891233-abcdef`. */
async function findRequest(
	pages: AdminPages,
	encoded: string,
): Promise<string | null> {
	let id: string;
	try {
		id = decodeURIComponent(encoded);
	} catch {
		return null;
	}
	return pages.findRequest(id);
}

function send(
	response: ServerResponse,
	status: number,
	contentType: string,
	text: string,
): void {
	response.writeHead(status, {
		"content-type": contentType,
		"content-length": Buffer.byteLength(text),
		"cache-control": "no-store",
	});
	response.end(text);
}
