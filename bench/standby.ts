/**
 * `npm run bench:standby -- --minutes 5 --rate 200`: feed lists of a real pair of
 * MySQL servers, read at a fixed rate, while the primary is killed, stopped, cut
 * off and slowed, each for a sixth of the time. One row for each part.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Storage } from "../src/storage/storage.ts";
import {
	addChunk,
	collectEvents,
	openFeeds,
	readPage,
	startReads,
	type TimedRead,
} from "../test/helpers/feedReads.ts";
import { user } from "../test/helpers/storageModel.ts";
import { TcpProxy } from "../test/helpers/tcpProxy.ts";
import { caughtUp, startMysqlPair } from "../test/services/mysql.ts";

const { values } = parseArgs({
	options: {
		minutes: { type: "string", default: "5" },
		rate: { type: "string", default: "200" },
	},
});
const partMs = (Number(values.minutes) * 60_000) / 6;
const rate = Number(values.rate);
const USERS = 200;
/** So long after the primary is well the pair may still be switched. */
const BACK_MS = 15_000;
/** What the first moments of an outage may take is not of its p99. */
const FIRST_MS = 200;

await using pair = await startMysqlPair();
await using link = await TcpProxy.to(pair.primary.port);
const primary = pair.primary.url.replace(
	`:${pair.primary.port}`,
	`:${link.port}`,
);
await fill();

const outages: readonly (readonly [
	name: string,
	begin: () => unknown,
	end: () => unknown,
])[] = [
	["killed", () => pair.primary.kill(), () => pair.primary.restart()],
	["stopped", () => pair.primary.pause(), () => pair.primary.resume()],
	["cut off", () => link.hold(), () => link.release()],
	[
		"slowed to 2 s",
		() => {
			link.delayMs = 2_000;
		},
		() => {
			link.delayMs = 0;
		},
	],
];

using seen = collectEvents();
const all: TimedRead[] = [];
const rows: Record<string, string | number>[] = [];
const calm = await during(async () => {
	await sleep(partMs);
});
const calmEvents = {
	hedges: seen.count("hedge"),
	mirrors: seen.count("mirror"),
};
rows.push(rowOf("calm", calm, 0));
for (const [name, begin, end] of outages) {
	const switches = seen.count("switchToPrimary");
	let began = 0;
	let well = 0;
	let backMs = 0;
	const reads = await during(async () => {
		await sleep(2_000);
		began = performance.now();
		await begin();
		await sleep(partMs);
		await end();
		well = performance.now();
		while (
			seen.count("switchToPrimary") === switches &&
			performance.now() - well < 60_000
		) {
			await sleep(50);
		}
		backMs = performance.now() - well;
	});
	const later = reads.filter(({ at }) => at > began + FIRST_MS && at < well);
	rows.push({
		...rowOf(name, later, reads.filter(({ failed }) => failed).length),
		"back after s": (backMs / 1_000).toFixed(1),
	});
}
console.table(rows);
const failed = all.filter((read) => read.failed).length;
console.log(
	`answered ${((1 - failed / all.length) * 100).toFixed(4)} % of ${all.length} reads; in calm ${percent(calmEvents.hedges, calm.length)} hedged, ${percent(calmEvents.mirrors, calm.length)} mirrored; switches back are due within ${BACK_MS / 1_000} s`,
);

/** Reads beside `body`, in a process that knows nothing of the parts before: each switch in a row is held for longer. */
async function during(
	body: () => Promise<void>,
): Promise<readonly TimedRead[]> {
	await using storage = await openFeeds(pair.replica.url, {
		primary,
		replica: pair.replica.url,
	});
	await reachFit(storage);
	const load = startReads(storage, rate, USERS);
	await body();
	await load.end();
	all.push(...load.reads);
	return load.reads;
}

function rowOf(part: string, reads: readonly TimedRead[], failed: number) {
	const ms = reads.map((read) => read.ms).sort((a, b) => a - b);
	const at = (quantile: number) =>
		(ms[Math.floor(ms.length * quantile)] ?? 0).toFixed(1);
	return {
		part,
		reads: reads.length,
		failed: failed || reads.filter((read) => read.failed).length,
		"by the standby": percent(
			reads.filter(({ isStale }) => isStale).length,
			reads.length,
		),
		"p50 ms": at(0.5),
		"p99 ms": at(0.99),
		"p99.9 ms": at(0.999),
	};
}

function percent(part: number, of: number): string {
	return `${((part / Math.max(1, of)) * 100).toFixed(2)} %`;
}

async function fill(): Promise<void> {
	await using direct = await openFeeds(pair.primary.url, {
		primary: pair.primary.url,
	});
	await direct.createTables();
	for (let n = 1; n <= USERS; n++) {
		await addChunk(direct, user(n), n * 1_000, 100);
	}
	await caughtUp(pair);
}

/** Until the standby has a beat, which the first reads begin. */
async function reachFit(storage: Storage): Promise<void> {
	for (let n = 0; n < 20; n++) {
		await readPage(storage, user(1));
		await sleep(100);
	}
}
