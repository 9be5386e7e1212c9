/**
 * `npm run bench -- board --pins 10000`: a board with many pins, some of them
 * liked, is deleted by the mutation, on MySQL, with a queue and without one.
 * Prints a row of Markdown for each: how long the answer took, and until the job
 * had removed what the board left behind. `verify` has to be clean at the end.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { ARCHIVE_QUEUE } from "../../src/graph/write/archiveJobs.ts";
import type { Id } from "../../src/id/ids.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { countJobs } from "../../src/queue/admin/queueStats.ts";
import { command } from "../../test/helpers/runCommand.ts";
import { temporaryFolder } from "../../test/helpers/temporaryFolder.ts";
import { startMysql } from "../../test/services/mysql.ts";

const { values } = parseArgs({
	options: { pins: { type: "string", default: "10000" } },
});
const PINS = Number(values.pins);
if (!Number.isSafeInteger(PINS) || PINS < 1 || PINS > 100_000) {
	throw new RangeError(`--pins must be 1 to 100000, got ${values.pins}.`);
}
/** One pin of so many is liked. */
const LIKED_OF = 5;
/** Requests at the same time while the board is filled. */
const AT_ONCE = 8;
const MOST_ARCHIVE_MS = 30 * 60_000;

interface Row {
	readonly deleteMs: number;
	readonly cpuMs: number;
	/** From the answer; null without a queue. */
	readonly archivedMs: number | null;
	/** What the owner's list counts at the end. */
	readonly pinsLeft: number;
	readonly isClean: boolean;
}

console.log(
	"| | answer, ms | CPU, ms | archived after, s | pins left on the owner's list | verify | load |",
);
console.log("|---|---:|---:|---:|---:|---|---:|");
for (const hasQueue of [false, true]) {
	const row = await measure(hasQueue);
	const cells = [
		`${PINS.toLocaleString("en")} pins, ${hasQueue ? "with" : "without"} a queue`,
		row.deleteMs.toFixed(1),
		row.cpuMs.toFixed(1),
		row.archivedMs === null ? "–" : (row.archivedMs / 1_000).toFixed(1),
		row.pinsLeft,
		row.isClean ? "clean" : "damage",
		(loadavg()[0] ?? 0).toFixed(1),
	];
	console.log(`| ${cells.join(" | ")} |`);
	if (!row.isClean) process.exitCode = 1;
}

/** On a server of its own. */
async function measure(hasQueue: boolean): Promise<Row> {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const { url } = opened.use(await startMysql());
	const env = {
		CORKBOARD_TOPOLOGY: join(folder.path, "topology.json"),
		CORKBOARD_SECRET: "of the benchmark of boards 32 bytes",
	};
	const range = [0, 3];
	writeFileSync(
		env.CORKBOARD_TOPOLOGY,
		JSON.stringify({
			version: 1,
			shards: [{ range, primary: url, open: true }],
			lookups: [{ range: [0, 0], primary: url }],
			...(hasQueue && { queues: [{ range, primary: url }] }),
		}),
	);
	const init = await command(["init"], { env, open: openCorkboard });
	if (init.code !== 0) throw new Error(init.err);
	const corkboard = opened.use(await openCorkboard(pinsApp, readConfig(env)));
	if (hasQueue) {
		opened.use(await corkboard.startWorker({ queues: null, concurrency: 4 }));
	}
	const ask = asker(corkboard);
	const made = async (viewer: Id | null, name: string, input: string) => {
		const { id } = await ask(viewer, `mutation { ${name}(input: ${input}`);
		return id;
	};
	const owner = await made(null, "createUser", '{username: "owner"}) { user');
	const fan = await made(null, "createUser", '{username: "fan_of_it"}) { user');
	// So that neither answer is the first of its kind.
	const first = await made(owner, "createBoard", '{name: "first"}) { board');
	await remove(corkboard, owner, first);
	const board = await made(owner, "createBoard", '{name: "many"}) { board');
	let next = 0;
	const fill = async () => {
		while (next < PINS) {
			const nth = next++;
			const pin = await made(
				owner,
				"createPin",
				`{boardId: "${board}"}) { pin`,
			);
			if (nth % LIKED_OF === 0) {
				await made(fan, "likePin", `{pinId: "${pin}"}) { pin`);
			}
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, fill));
	const cpu = process.cpuUsage();
	const began = performance.now();
	await remove(corkboard, owner, board);
	const ended = performance.now();
	const { user, system } = process.cpuUsage(cpu);
	const archived = hasQueue ? await untilArchived(corkboard) : null;
	const left = await corkboard.query(
		'{ user(by: {username: "owner"}) { pins { totalCount } } }',
	);
	const { clean } = await verify(corkboard.store);
	return {
		deleteMs: ended - began,
		cpuMs: (user + system) / 1_000,
		archivedMs: archived === null ? null : archived - ended,
		pinsLeft: (left.data as unknown as Counted).user.pins.totalCount,
		isClean: clean,
	};
}

interface Counted {
	readonly user: { readonly pins: { readonly totalCount: number } };
}

async function remove(
	corkboard: Corkboard,
	viewer: Id,
	board: Id,
): Promise<void> {
	const source = `mutation { deleteBoard(input: {boardId: "${board}"}) { deletedBoardId } }`;
	const { errors } = await corkboard.query(source, { viewer });
	if (errors !== undefined) throw new Error(JSON.stringify(errors));
}

/** The moment. Nothing is left to deliver, and no job to run. */
async function untilArchived({ queues, store }: Corkboard): Promise<number> {
	if (queues === null) throw new Error("no queue");
	const giveUpAt = performance.now() + MOST_ARCHIVE_MS;
	while (performance.now() < giveUpAt) {
		await store.jobs?.deliveries.flush();
		const [pending, running] = await Promise.all(
			(["pending", "running"] as const).map((state) =>
				countJobs(queues.store, ARCHIVE_QUEUE, { state }),
			),
		);
		const outboxes = await store.storage.pendingEntries({
			olderThanMs: 0,
			limit: 1,
		});
		if (pending?.jobs === 0 && running?.jobs === 0 && outboxes.length === 0) {
			return performance.now();
		}
		await sleep(250);
	}
	throw new Error("The board was not archived in time.");
}

/** Sends a mutation, whose text lacks its end, and gives the object that the payload has. */
function asker(corkboard: Corkboard) {
	return async (viewer: Id | null, mutation: string) => {
		const source = `${mutation} { id } } }`;
		const { data, errors } = await corkboard.query(source, { viewer });
		if (errors !== undefined) throw new Error(JSON.stringify(errors));
		const [payload] = Object.values(
			data as Record<string, Record<string, { readonly id: Id }>>,
		);
		const [object] = Object.values(payload ?? {});
		if (object === undefined) throw new Error(`No object: ${source}`);
		return object;
	};
}
