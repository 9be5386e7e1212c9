import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Progress } from "../progress.ts";
import type { ServerProcess } from "../servers/serverProcess.ts";
import { startServer } from "../servers/serverProcess.ts";
import { countDue, type FeedFleet, visitAll } from "./fleet.ts";
import { FeedClient } from "./http.ts";
import type { Options } from "./options.ts";
import { type Measurement, percentile } from "./results.ts";
import type { WorkerReport } from "./workerProcess.ts";

const WORKERS = 2;
/** Jobs that each worker runs at a time. */
const JOBS = 50;
/** Pins whose followers are looked up afterwards. */
const SAMPLES = 200;
const DRAIN_LIMIT_MS = 300_000;
const ROOT = join(import.meta.dirname, "../..");

const CREATE_PIN =
	"mutation ($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }";

/** A server that accepts all that the benchmark sends. */
export function serve({ env }: Pick<FeedFleet, "env">): Promise<ServerProcess> {
	return startServer({
		name: "Corkboard",
		command: [
			"sh",
			join(ROOT, "src/cli/node.sh"),
			join(ROOT, "src/cli/launch.mjs"),
			"serve",
		],
		env,
		readiness: "health",
	});
}

/** Users pin through the API, as often as each did in the graph, while workers fan out. */
export async function measureLag(
	fleet: FeedFleet,
	options: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	await using corkboard = await openCorkboard(pinsApp, readConfig(fleet.env));
	const { feed, queues } = corkboard;
	if (feed === null || queues === null) throw new Error("There are no pools.");
	await visitAll(feed.parts.pools, fleet.graph.users);
	await using server = await serve(fleet);
	using client = new FeedClient(server.port);
	const measured: Measurement[] = [];
	for (const rate of options.rates) {
		await using workers = await startWorkers(fleet);
		const made: { readonly pin: Id; readonly owner: number }[] = [];
		const requestMs: number[] = [];
		const took = await pinFor(options.seconds, rate, async (nth) => {
			const { graph } = fleet;
			const owner = drawOwner(fleet, nth);
			const at = performance.now();
			const { createPin } = await client.ask<{
				readonly createPin: { readonly pin: { readonly id: Id } };
			}>(graph.users[owner] as Id, CREATE_PIN, {
				input: { boardId: graph.boards[owner], details: `pin ${nth}` },
			});
			requestMs.push(performance.now() - at);
			made.push({ pin: createPin.pin.id, owner });
		});
		const drainMs = await drained(() => countDue(queues, 100));
		// The last report is under way.
		await sleep(1_000);
		const { lagsMs, rows } = workers;
		const values = {
			"pins/s": (made.length / took) * 1_000,
			"rows a pin": rows() / made.length,
			"p50 ms": percentile(lagsMs, 0.5),
			"p99 ms": percentile(lagsMs, 0.99),
			"most ms": percentile(lagsMs, 1),
			"drained after ms": drainMs,
			"createPin p50 ms": percentile(requestMs, 0.5),
			"createPin p99 ms": percentile(requestMs, 0.99),
			"followers without it": await countMissing(
				fleet,
				made.slice(-SAMPLES),
				feed.parts.pools.find.bind(feed.parts.pools),
			),
		};
		measured.push({ part: "lag", name: `${rate} pins/s`, values });
		progress.say(
			`lag at ${rate} pins/s: p50 ${values["p50 ms"].toFixed(0)} ms, p99 ${values["p99 ms"].toFixed(0)} ms, ${values["followers without it"]} missing`,
		);
	}
	return measured;
}

/** A user who pinned often pins often. The same for the same number. */
export function drawOwner(
	{ graph: { owners, boards } }: FeedFleet,
	nth: number,
): number {
	for (let n = nth * 2_654_435_761; ; n += 7_919) {
		const owner = owners[n % owners.length] ?? 0;
		if (boards[owner] !== null) return owner;
	}
}

/** Calls so many times a second, whatever became of those before. Returns milliseconds. */
async function pinFor(
	seconds: number,
	rate: number,
	pin: (nth: number) => Promise<void>,
): Promise<number> {
	const running = new Set<Promise<void>>();
	const failures: unknown[] = [];
	const began = performance.now();
	const wanted = Math.max(1, Math.round(seconds * rate));
	for (let nth = 0; nth < wanted; nth++) {
		const waitMs = began + (nth * 1_000) / rate - performance.now();
		if (waitMs > 1) await sleep(waitMs);
		const one: Promise<void> = pin(nth)
			.catch((error) => void failures.push(error))
			.finally(() => running.delete(one));
		running.add(one);
	}
	await Promise.all(running);
	if (failures.length > 0) throw failures[0];
	return performance.now() - began;
}

/** Waits until no job is left; returns how long that took. Milliseconds. */
export async function drained(count: () => Promise<number>): Promise<number> {
	const began = performance.now();
	// Two in a row: an outbox entry enqueues its jobs in the background.
	for (let empty = 0; empty < 2; ) {
		empty = (await count()) === 0 ? empty + 1 : 0;
		if (performance.now() - began > DRAIN_LIMIT_MS) {
			throw new Error("The queue was not empty in time.");
		}
		await sleep(100);
	}
	return performance.now() - began;
}

/** Followers of the owners of pins whose pools do not know these. */
async function countMissing(
	{ graph: { users, followers } }: FeedFleet,
	pins: readonly { readonly pin: Id; readonly owner: number }[],
	find: (user: Id, origins: readonly Id[]) => Promise<readonly unknown[]>,
): Promise<number> {
	let missing = 0;
	for (const { pin, owner } of pins) {
		const some = (followers[owner] ?? []).slice(0, 100);
		const found = await Promise.all(
			some.map((user) => find(users[user] as Id, [pin])),
		);
		missing += found.filter(([row]) => row === null).length;
	}
	return missing;
}

async function startWorkers({ env }: FeedFleet) {
	const lagsMs: number[] = [];
	let rows = 0;
	const children: ChildProcess[] = [];
	const started = Array.from({ length: WORKERS }, async () => {
		const child = fork(join(import.meta.dirname, "workerProcess.ts"), {
			env: { ...env, JOBS: String(JOBS) },
		});
		children.push(child);
		const [outcome] = await Promise.race([
			once(child, "message"),
			once(child, "exit"),
		]);
		if (typeof outcome !== "object") {
			throw new Error(`A worker ended with ${outcome}.`);
		}
		child.on("message", (message) => {
			const report = message as WorkerReport;
			lagsMs.push(...report.lagsMs);
			rows += report.rows;
		});
	});
	await Promise.all(started);
	return {
		lagsMs,
		rows: () => rows,
		async [Symbol.asyncDispose]() {
			await Promise.all(
				children.map(async (child) => {
					if (child.exitCode !== null) return;
					const ended = once(child, "exit");
					child.kill("SIGTERM");
					await ended;
				}),
			);
		},
	};
}
