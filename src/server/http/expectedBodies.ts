import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Clients that send the body only once they are asked for it, by their request. */
const waiting = new WeakMap<
	IncomingMessage,
	{ readonly response: ServerResponse; readonly keepsAlive: boolean }
>();

/**
 * Lets a request with `Expect: 100-continue` be refused before its body is sent, as
 * RFC 9110 §10.1.1 has it. Node asks for each body at once, before anybody looked at
 * the request.
 */
export function waitBeforeBodies(server: Server): void {
	server.on("checkContinue", (message, response) => {
		waiting.set(message, { response, keepsAlive: response.shouldKeepAlive });
		// Whether the client sends the body after a refusal is for the client to say.
		response.shouldKeepAlive = false;
		server.emit("request", message, response);
	});
}

/** Asks for the body of a request that is not refused, if the client waits for that. */
export function askForBody(message: IncomingMessage): void {
	const client = waiting.get(message);
	if (client === undefined) return;
	const { response, keepsAlive } = client;
	waiting.delete(message);
	response.shouldKeepAlive = keepsAlive;
	response.writeContinue();
}
