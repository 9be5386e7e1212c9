import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below what systems give to outgoing connections (from 32,768 on in Linux): a
 * port stays free for its server between a stop and the next start.
 */
const FIRST = 15_000;
const LAST = 32_000;
const TRIES = 50;

/** A port of 127.0.0.1 that nobody listens on. Another process may be quicker to take it: who starts a server there tries again. */
export async function freePort(): Promise<number> {
	for (let n = 0; n < TRIES; n++) {
		const port = randomInt(FIRST, LAST + 1);
		if (await isFree(port)) return port;
	}
	throw new Error(
		`expected a free port from ${FIRST} to ${LAST} but got: none in ${TRIES} tries`,
	);
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, "127.0.0.1");
		await once(server, "listening");
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
		throw error;
	} finally {
		server.close();
	}
}
