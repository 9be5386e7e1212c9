/**
 * `npm run cluster`: two MySQL pairs, memcached, Redis and ZooKeeper on this machine,
 * without docker or root, and the API with the demo graph on top, until Ctrl-C.
 * ZooKeeper needs Java; if there is none, the shard map stays in a file.
 * All of it is temporary: what was stored goes with it. It prints the file of
 * the settings with which any command runs in another shell.
 *
 *     npm run cluster -- --no-api   the servers alone, without tables
 *     CORKBOARD_DEMO=off            no demo graph
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { demoGraph } from "../../pins/demo/graph.ts";
import { DEMO_USERNAME } from "../../pins/demo/people.ts";
import { reservePort } from "../../test/services/port.ts";
import { describeProgram, findProgram } from "../../test/services/program.ts";
import { say } from "../../test/services/say.ts";
import type { Server } from "../../test/services/server.ts";
import { startZookeeper } from "../../test/services/zookeeper.ts";
import { type Cluster, startCluster } from "./cluster.ts";

const LAUNCH = join(import.meta.dirname, "../../src/cli/launch.mjs");
const END_LIMIT_MS = 30_000;

const isAlone = process.argv.includes("--no-api");
const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
	process.on(name, () => stop.abort());
}

/** Runs one command of ours to its end, or to ours; answers its exit code. */
async function corkboard(
	args: readonly string[],
	settings: NodeJS.ProcessEnv,
	output: "inherit" | "ignore" = "inherit",
): Promise<number> {
	if (stop.signal.aborted) return 0;
	const child = spawn(process.execPath, [LAUNCH, ...args], {
		stdio: ["inherit", output, "inherit"],
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
	await using zookeeper = await tryZookeeper();
	for (const [n, { primary, replica }] of cluster.pairs.entries()) {
		say(`MySQL pair ${n + 1}: ${primary.url}, replica ${replica.url}`);
	}
	const folder = dirname(cluster.topologyFile);
	// What the caller has set is meant.
	const settings = {
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: randomBytes(48).toString("base64url"),
		CORKBOARD_ADMIN: `127.0.0.1:${await freePort()}`,
		HOST: "127.0.0.1",
		...given(),
		...cluster.settings,
		...(zookeeper !== null && {
			CORKBOARD_TOPOLOGY: `zk://${zookeeper.address}/corkboard`,
			CORKBOARD_TOPOLOGY_COPY: join(folder, "topology.kept"),
		}),
	};
	const file = join(folder, "settings.sh");
	await writeFile(file, shellText(settings), { mode: 0o600 });
	say(`settings for another shell: . ${file}`);
	sayExamples(cluster);
	const environment = { ...process.env, ...settings };
	if (zookeeper !== null) {
		say(`ZooKeeper, which has the shard map: ${settings.CORKBOARD_TOPOLOGY}`);
		const published = await corkboard(
			["map", "publish", cluster.topologyFile, "--why", "a new cluster"],
			environment,
			// Its output is the settings alone then.
			isAlone ? "ignore" : "inherit",
		);
		if (published !== 0) return published;
	}
	if (isAlone) {
		for (const [name, value] of Object.entries(settings)) {
			process.stdout.write(`${name}=${value}\n`);
		}
		if (!stop.signal.aborted) await untilStopped();
		return 0;
	}
	const initialized = await corkboard(["init"], environment);
	if (initialized !== 0) return initialized;
	if (process.env.CORKBOARD_DEMO !== "off") {
		await importDemo(join(folder, "demo.ndjson"), environment);
	}
	// Awaited, so that the servers stay until then.
	return await corkboard(["serve"], environment);
}

/** Null if it cannot run here, which is said. */
async function tryZookeeper(): Promise<Server | null> {
	try {
		return await startZookeeper();
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		say(
			`ZooKeeper does not run here, so the shard map is in a file: ${reason}`,
		);
		return null;
	}
}

/** What to try in another shell. */
function sayExamples({ topology, pairs: [first, second] }: Cluster): void {
	const shards = topology.shards.at(-1)?.range[1] ?? 0;
	const { primary, replica } = second;
	for (const line of [
		"then, for example:",
		"  npm run -s corkboard -- status",
		`  npm run -s corkboard -- shards open ${shards + 1}-${shards + 8} --primary '${primary.url}' --replica '${replica.url}'`,
		`  npm run -s corkboard -- shards move 0-1 --to '${primary.url}' --replica '${replica.url}' --settle 1s --yes`,
		"  npm run -s corkboard -- moves reverse $(npm run -s corkboard -- operations list --json | grep -o 'move-[a-z0-9-]*' | head -1)",
		`  npm run -s corkboard -- hosts promote ${first.primary.address} --dry-run`,
		`  npm run -s corkboard -- hosts promote ${first.primary.address} --yes`,
	]) {
		say(line);
	}
}

/** Settings of Corkboard that the caller has made. */
function given(): Record<string, string> {
	return Object.fromEntries(
		Object.entries(process.env).flatMap(([name, value]) =>
			/^(CORKBOARD_.*|HOST)$/.test(name) && value !== undefined
				? [[name, value]]
				: [],
		),
	);
}

/** A file that a POSIX shell reads with `.`; the values have no single quotes. */
function shellText(settings: Readonly<Record<string, string>>): string {
	return Object.entries(settings)
		.map(([name, value]) => `export ${name}='${value}'\n`)
		.join("");
}

async function freePort(): Promise<number> {
	await using reserved = await reservePort();
	return reserved.port;
}

/** A busy machine may cut an import off: it is resumed. Without the graph the API serves all the same. */
async function importDemo(
	file: string,
	environment: NodeJS.ProcessEnv,
): Promise<void> {
	const lines = [...demoGraph()].map((line) => `${JSON.stringify(line)}\n`);
	await writeFile(file, lines.join(""));
	for (let tries = 1; tries <= 3 && !stop.signal.aborted; tries++) {
		if ((await corkboard(["import", file], environment)) === 0) {
			say(`the demo user is ${DEMO_USERNAME}; the token:`);
			await corkboard(["tokens", "create", DEMO_USERNAME], environment);
			return;
		}
	}
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
