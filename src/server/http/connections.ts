import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Refusals } from "./refusals.ts";

/** Limits on connections, so that no client can make a process keep requests and responses without bound. */
export interface ConnectionLimits {
	/** Requests of one connection: one that is being answered, and those that wait for it. */
	readonly pipelined: number;
	/** Connections at a time. */
	readonly connections: number;
	/** From the first byte of a response until the client's system has taken the last. */
	readonly sendMs: number;
	/** Most bytes of all responses that clients have not read yet. Above it, clients that do not read theirs are disconnected before `sendMs`. */
	readonly unreadBytes: number;
	/** Between two checks of the connections. */
	readonly checkMs: number;
}

/**
 * A read from a socket may hold hundreds of small requests, and Node parses all
 * of them. Those that are never to be answered stay in memory until their
 * connection ends. Above this many in all, connections end at once.
 */
const MAX_IGNORED = 10_000;

/** Connections between requests are closed above this part of the limit, so that others get a place. */
const CROWDED = 0.9;

/** A connection from its first request to its end. */
interface Connection {
	readonly socket: Socket;
	/** Called when a response is done: the connection is free, or starts the next request in the next turn of the event loop. Node parses all that it has read in one turn, so that a connection would else keep the others waiting. */
	readonly next: () => void;
	/** The response to the request that is being answered. */
	current: ServerResponse | null;
	/** In the order of their arrival. */
	readonly waiting: Turn[];
	/** The response to the request that was over the limit. It is the last one answered. */
	refused: ServerResponse | null;
	/** Requests after that. */
	ignored: number;
	/** The response that the last check found on its way, and when a check first did. */
	sending: { readonly response: ServerResponse; readonly since: number } | null;
}

interface Turn {
	readonly response: ServerResponse;
	readonly start: () => void;
}

/**
 * Answers the requests of a connection one after the other (HTTP/1.1
 * pipelining): the next one starts when the client's system has taken the
 * response before. A client that does not read can so make the server compute
 * and keep one response, not thousands.
 */
export class Connections {
	readonly #connections = new Map<Socket, Connection>();
	readonly #limits: ConnectionLimits;
	readonly #refusals: Refusals;
	#ignored = 0;

	constructor(limits: ConnectionLimits, refusals: Refusals) {
		this.#limits = limits;
		this.#refusals = refusals;
	}

	/**
	 * Calls `start` when the requests before it on the connection are answered,
	 * or `refuse` if too many wait; neither if the connection ends first.
	 * Asked again for the same response, it calls the same one at once.
	 */
	admit(
		socket: Socket,
		response: ServerResponse,
		start: () => void,
		refuse: () => void,
	): void {
		// It may have ended while something else was awaited. Nothing would take it out of the map again.
		if (socket.destroyed || socket.writableEnded) return;
		const connection = this.#connections.get(socket) ?? this.#open(socket);
		if (connection.current === null) {
			connection.current = response;
			response.once("close", connection.next);
			start();
		} else if (connection.current === response) {
			start();
		} else if (connection.refused === response) {
			refuse();
		} else if (connection.refused !== null) {
			this.#ignore(connection);
		} else if (connection.waiting.length + 1 < this.#limits.pipelined) {
			connection.waiting.push({ response, start });
		} else {
			connection.refused = response;
			stopReading(socket);
			this.#refusals.count("pipelined");
			refuse();
		}
	}

	/** Whether nothing is answered on it, and what was has been taken by the client's system. */
	isFree(socket: Socket): boolean {
		const connection = this.#connections.get(socket);
		const isBusy =
			connection !== undefined &&
			(connection.current !== null || connection.refused !== null);
		return !isBusy && socket.writable && socket.writableLength === 0;
	}

	/** Whether a response is due to a request that has arrived in full. */
	isResponding(socket: Socket): boolean {
		const current = this.#connections.get(socket)?.current ?? null;
		return (
			current !== null &&
			!current.writableFinished &&
			(current.req.complete || current.headersSent)
		);
	}

	/** Check the connections of `server` until the app closes. */
	check(app: FastifyInstance): void {
		const { server } = app;
		server.maxConnections = this.#limits.connections;
		// Else a worker passes the connection on to another, and on again when all
		// are full. Node's types do not have it.
		Object.assign(server, { dropMaxConnection: true });
		server.on("drop", () => this.#refusals.count("connections"));
		const { checkMs } = this.#limits;
		const timer = setInterval(() => this.#check(server), checkMs).unref();
		app.addHook("onClose", async () => clearInterval(timer));
	}

	#open(socket: Socket): Connection {
		const connection: Connection = {
			socket,
			next() {
				if (connection.waiting.length === 0) connection.current = null;
				else setImmediate(startNext, connection);
			},
			current: null,
			waiting: [],
			refused: null,
			ignored: 0,
			sending: null,
		};
		this.#connections.set(socket, connection);
		socket.once("close", () => {
			this.#connections.delete(socket);
			this.#ignored -= connection.ignored;
			connection.waiting.length = 0;
		});
		return connection;
	}

	#ignore(connection: Connection): void {
		connection.ignored++;
		this.#ignored++;
		if (this.#ignored > MAX_IGNORED) connection.socket.destroy();
	}

	#check(server: Server): void {
		const now = performance.now();
		const { sendMs, unreadBytes, connections: limit } = this.#limits;
		const sending: Connection[] = [];
		let unread = 0;
		for (const connection of this.#connections.values()) {
			const { current, socket } = connection;
			if (current === null || !current.headersSent) continue;
			if (connection.sending?.response !== current) {
				connection.sending = { response: current, since: now };
				unread += socket.writableLength;
			} else if (now - connection.sending.since >= sendMs) {
				this.#disconnect(connection);
			} else {
				unread += socket.writableLength;
				sending.push(connection);
			}
		}
		for (const connection of sending) {
			if (unread <= unreadBytes) break;
			unread -= connection.socket.writableLength;
			this.#disconnect(connection);
		}
		server.getConnections((_error, count) => {
			if (count >= limit * CROWDED) server.closeIdleConnections();
		});
		this.#refusals.log();
	}

	#disconnect({ socket }: Connection): void {
		this.#refusals.count("unread");
		socket.destroy();
	}
}

function startNext(connection: Connection): void {
	const { socket, waiting } = connection;
	connection.current = null;
	// A response with `connection: close` was the last.
	if (socket.destroyed || socket.writableEnded) return;
	const turn = waiting.shift();
	if (turn === undefined) return;
	connection.current = turn.response;
	turn.response.once("close", connection.next);
	turn.start();
}

/** Node resumes a socket to read the body of a request, even if it has the whole body already. */
function stopReading(socket: Socket): void {
	socket.on("resume", () => socket.pause());
	socket.pause();
}
