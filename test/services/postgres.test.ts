import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { assertGone } from "./gone.ts";
import { startPostgres } from "./postgres.ts";

/** SSLRequest (PostgreSQL, "Message Formats"): any server answers it with one letter. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

describe("a private PostgreSQL", () => {
	test("answers a client, also after a restart, and leaves no process, no file and no shared memory", async () => {
		const server = await startPostgres();
		assert.match(
			server.url,
			/^postgres:\/\/corkboard:corkboard@127\.0\.0\.1:\d+$/,
		);
		for (let times = 0; times < 2; times++) {
			const socket = connect(server.port, server.host);
			socket.write(SSL_REQUEST);
			const [answer] = await once(socket, "data");
			socket.destroy();
			assert.match(String(answer), /^[NS]$/);
			if (times === 0) await server.restart();
		}
		const { pid } = server;
		assert.ok(sharedMemoryOf(pid) > 0);
		await server.stop();
		await assertGone(server);
		assert.equal(sharedMemoryOf(pid), 0);
	});
});

/** How many segments of System V this process has made. */
function sharedMemoryOf(pid: number): number {
	return readFileSync("/proc/sysvipc/shm", "utf8")
		.split("\n")
		.filter((line) => Number(line.trim().split(/\s+/)[4]) === pid).length;
}
