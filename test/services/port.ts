import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Below what systems give to outgoing connections (from 32,768 on in Linux). */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 50;

const ADDRESS = "127.0.0.1";
/**
 * Another address of the loopback interface, on which nobody else listens. To
 * listen there is to hold the same port of 127.0.0.1 against every other process
 * that asks here first; the kernel releases it with the process.
 */
const RESERVATIONS = "127.77.77.77";

/** A port of 127.0.0.1 that is ours until we dispose of it, whether a server listens on it or not. */
export interface ReservedPort extends AsyncDisposable {
	readonly port: number;
}

/**
 * Reserves a port that nobody listens on. A program that does not ask here may
 * still take it: then the caller starts its server on another.
 */
export async function reservePort(): Promise<ReservedPort> {
	for (let n = 0; n < TRIES; n++) {
		const port = randomInt(FIRST, LAST + 1);
		const reserved = await reserve(port);
		if (reserved !== null) return reserved;
	}
	throw new Error(
		`expected a free port from ${FIRST} to ${LAST} but got: none in ${TRIES} tries`,
	);
}

/** Null if the port is reserved or in use. */
async function reserve(port: number): Promise<ReservedPort | null> {
	const reservation = await listen(RESERVATIONS, port);
	if (reservation === "in use") return null;
	const probe = await listen(ADDRESS, port);
	if (probe instanceof Object) await close(probe);
	if (probe === "in use") {
		if (reservation instanceof Object) await close(reservation);
		return null;
	}
	return {
		port,
		async [Symbol.asyncDispose]() {
			if (reservation instanceof Object) await close(reservation);
		},
	};
}

/** Some systems have no loopback address but 127.0.0.1: there nothing is reserved. */
async function listen(
	host: string,
	port: number,
): Promise<Server | "in use" | "no such address"> {
	const server = createServer().unref();
	try {
		server.listen({ host, port, exclusive: true });
		await once(server, "listening");
		return server;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "EADDRINUSE") return "in use";
		if (code === "EADDRNOTAVAIL" && host !== ADDRESS) return "no such address";
		throw error;
	}
}

async function close(server: Server): Promise<void> {
	if (!server.listening) return;
	server.close();
	await once(server, "close");
}
