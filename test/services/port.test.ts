import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { reserve, reservePort } from "./port.ts";

const MODULE = join(import.meta.dirname, "port.ts");

/** Whether another process may reserve this port now. */
async function isFreeElsewhere(port: number): Promise<boolean> {
	const { stdout } = await promisify(execFile)(process.execPath, [
		"--input-type=module",
		"--eval",
		`const { reserve } = await import(${JSON.stringify(MODULE)});
		console.log((await reserve(${port})) !== null);`,
	]);
	return stdout === "true\n";
}

describe("a reserved port", () => {
	test("cannot be reserved again by any process until it is released", async () => {
		const reserved = await reservePort();
		assert.equal(await reserve(reserved.port), null);
		assert.equal(await isFreeElsewhere(reserved.port), false);
		await reserved[Symbol.asyncDispose]();
		assert.equal(await isFreeElsewhere(reserved.port), true);
	});

	test("can be used by a server, and stays reserved after the server stops", async () => {
		await using reserved = await reservePort();
		for (let start = 0; start < 2; start++) {
			const server = createServer().listen(reserved.port, "127.0.0.1");
			await once(server, "listening");
			server.close();
			await once(server, "close");
			assert.equal(await reserve(reserved.port), null);
		}
	});

	test("is never a port that a server listens on", async () => {
		const server = createServer().listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		assert.equal(await reserve(port), null);
		server.close();
	});
});
