import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reservePort } from "../../test/services/port.ts";
import { startWatched } from "../../test/services/watched.ts";
import { onServerCore } from "./cores.ts";

const START_LIMIT_MS = 120_000;
const LOOK_MS = 50;

/** A server under test: one process that does not outlive this one. */
export interface ServerProcess extends AsyncDisposable {
	readonly pid: number;
	readonly port: number;
}

export interface ServerCommand {
	readonly name: string;
	readonly command: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	/** Corkboard gets a port and is asked whether it is ready; the peers print the port they got. */
	readonly readiness: "health" | "printed";
}

export async function startServer({
	name,
	command,
	env,
	readiness,
}: ServerCommand): Promise<ServerProcess> {
	const folder = await mkdtemp(join(tmpdir(), "corkboard-bench-"));
	const log = join(folder, "log");
	await using reserved = readiness === "health" ? await reservePort() : null;
	const settings = {
		PATH: process.env.PATH ?? "",
		NODE_ENV: "production",
		HOST: "127.0.0.1",
		...(reserved === null ? {} : { PORT: String(reserved.port) }),
		...env,
	};
	const running = await startWatched(
		onServerCore([
			"env",
			"-i",
			...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
			...command,
		]),
		{ folder, log },
	);
	const stop = async () => {
		// What it would finish, nobody waits for.
		if (!running.hasExited()) process.kill(running.pid, "SIGKILL");
		await running.exited;
		await rm(folder, { recursive: true, force: true });
	};
	const deadline = performance.now() + START_LIMIT_MS;
	while (!running.hasExited() && performance.now() < deadline) {
		const port =
			reserved === null
				? await printedPort(log)
				: await readyPort(reserved.port);
		if (port !== null) {
			return { pid: running.pid, port, [Symbol.asyncDispose]: stop };
		}
		await sleep(LOOK_MS);
	}
	const printed = await readFile(log, "utf8").catch(() => "");
	await stop();
	throw new Error(
		`${name} did not start within ${START_LIMIT_MS / 1_000} s. It printed:\n${printed.slice(-3_000)}`,
	);
}

async function printedPort(log: string): Promise<number | null> {
	const text = await readFile(log, "utf8").catch(() => "");
	const [, port] = /^listening on (\d+)$/m.exec(text) ?? [];
	return port === undefined ? null : Number(port);
}

async function readyPort(port: number): Promise<number | null> {
	try {
		const response = await fetch(`http://127.0.0.1:${port}/health/ready`, {
			signal: AbortSignal.timeout(2_000),
		});
		await response.arrayBuffer();
		return response.ok ? port : null;
	} catch {
		return null;
	}
}
