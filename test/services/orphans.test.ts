import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { assertGone, isAlive } from "./gone.ts";

const SERVICES = join(import.meta.dirname, "startServices.ts");

/** A process that starts one server of each kind, prints their addresses, and then runs the given code. */
async function startOwner(then: string) {
	const child = spawn(
		process.execPath,
		[
			"--input-type=module",
			"--eval",
			`const { startServices } = await import(${JSON.stringify(SERVICES)});
			const own = await startServices({ mysql: 1, redis: 1, memcached: 1 });
			const servers = [own.mysql, own.redis, own.memcached].flat();
			console.log(JSON.stringify(servers.map(({ pid, folder }) => ({ pid, folder }))));
			${then}`,
		],
		// A group of its own, as a terminal gives to what it runs.
		{ detached: true, stdio: ["ignore", "pipe", "ignore"] },
	);
	const [line] = await once(createInterface({ input: child.stdout }), "line");
	const servers = JSON.parse(line) as { pid: number; folder: string }[];
	return { child, servers };
}

describe("servers end and their folders are removed with the process that started them", () => {
	const ways = [
		["when it is killed", "", "SIGKILL", "pid"],
		[
			"when it is interrupted, by Ctrl-C to its whole group",
			"",
			"SIGINT",
			"group",
		],
		["when it exits without stopping them", "process.exit(0)", null, "pid"],
		["when it throws", "throw new Error('on purpose')", null, "pid"],
	] as const;
	for (const [way, then, signal, target] of ways) {
		test(way, async () => {
			const { child, servers } = await startOwner(then);
			assert.equal(servers.length, 3);
			const ended =
				child.exitCode === null ? once(child, "exit") : Promise.resolve();
			if (signal !== null) {
				assert.ok(servers.every(({ pid }) => isAlive(pid)));
				const { pid = 0 } = child;
				process.kill(target === "group" ? -pid : pid, signal);
			}
			await ended;
			for (const server of servers) await assertGone(server);
		});
	}
});
