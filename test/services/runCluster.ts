/**
 * `npm run cluster`: two MySQL pairs, memcached and Redis on this machine,
 * without docker or root, and the API on top, until Ctrl-C. All of it is
 * temporary: what was stored goes with it.
 *
 *     npm run cluster -- --no-api   the servers alone, and the settings to use them with
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "./cluster.ts";
import { describeProgram, findProgram } from "./program.ts";
import { say } from "./say.ts";

const LAUNCH = join(import.meta.dirname, "../../src/cli/launch.mjs");
const END_LIMIT_MS = 30_000;

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
	process.on(name, () => stop.abort());
}

/** Runs one command of ours to its end, or to ours; answers its exit code. */
async function corkboard(
	command: string,
	settings: NodeJS.ProcessEnv,
): Promise<number> {
	if (stop.signal.aborted) return 0;
	const child = spawn(process.execPath, [LAUNCH, command], {
		stdio: "inherit",
		env: settings,
	});
	const ended = once(child, "exit");
	stop.signal.addEventListener("abort", async () => {
		child.kill("SIGTERM");
		await Promise.race([ended, sleep(END_LIMIT_MS, undefined, { ref: false })]);
		child.kill("SIGKILL");
	});
	const [code] = await ended;
	return (code as number | null) ?? 1;
}

async function main(): Promise<number> {
	for (const name of ["mysqld", "memcached", "redis-server"] as const) {
		say(describeProgram(await findProgram(name)));
	}
	await using cluster = await startCluster();
	for (const [n, { primary, replica }] of cluster.pairs.entries()) {
		say(`MySQL pair ${n + 1}: ${primary.url}, replica ${replica.url}`);
	}
	const settings = {
		...cluster.settings,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: randomBytes(48).toString("base64url"),
		HOST: "127.0.0.1",
	};
	if (process.argv.includes("--no-api")) {
		for (const [name, value] of Object.entries(settings)) {
			process.stdout.write(`${name}=${value}\n`);
		}
		if (!stop.signal.aborted) await untilStopped();
		return 0;
	}
	// What the caller has set is meant.
	const environment = { ...settings, ...process.env, ...cluster.settings };
	return (
		(await corkboard("init", environment)) ||
		(await corkboard("serve", environment))
	);
}

async function untilStopped(): Promise<void> {
	// A signal alone does not keep a process waiting.
	const waiting = setInterval(() => {}, 60_000);
	await once(stop.signal, "abort");
	clearInterval(waiting);
}

try {
	process.exitCode = await main();
} catch (error) {
	process.stderr.write(
		`cluster: ${error instanceof Error ? error.message : error}\n`,
	);
	process.exitCode = 1;
}
