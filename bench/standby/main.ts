/**
 * `npm run bench -- standby --minutes 5 --rate 200`: feed lists of a real pair of
 * MySQL servers, read at a fixed rate, while the primary is killed, stopped, cut
 * off and slowed, each for a sixth of the time; then without replication, with both
 * servers overloaded, and in the first second after a switch to a replica that was
 * just started, and to one that mirrored reads have kept warm. `--parts killed,overload` measures some.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Storage } from "../../src/storage/storage.ts";
import {
	addChunk,
	collectEvents,
	openFeeds,
	readPage,
	startReads,
	type TimedRead,
} from "../../test/helpers/feedReads.ts";
import { ask } from "../../test/helpers/mysqlStorage.ts";
import { user } from "../../test/helpers/storageModel.ts";
import { TcpProxy } from "../../test/helpers/tcpProxy.ts";
import { caughtUp, startMysqlPair } from "../../test/services/mysql.ts";
import { slowDown } from "./slowDown.ts";

const { values } = parseArgs({
	options: {
		minutes: { type: "string", default: "5" },
		rate: { type: "string", default: "200" },
		parts: { type: "string" },
	},
});
const partMs = (Number(values.minutes) * 60_000) / 6;
const rate = Number(values.rate);
const USERS = 200;
/** So many reads are not counted: from 500 on the delay of a hedge is what the primary shows. */
const WARM_READS = 600;
/** So long after the primary is well the pair may still be switched. */
const BACK_MS = 15_000;
/** So soon after its start next to nothing was mirrored to a replica. */
const COLD_MS = 3_000;
/** What the first moments of an outage may take is not of its p99. */
const FIRST_MS = 200;
/** A standby that is further behind is not used. */
const TOO_OLD_MS = 6_000;
const OVERLOAD = 4;
const OVERLOAD_ROUNDS = 3;
/** Pages of so many callers merge into few statements: fewer callers show less than a server carries. */
const CALLERS = 256;

await using pair = await startMysqlPair();
await using link = await TcpProxy.to(pair.primary.port);
const primary = pair.primary.url.replace(
	`:${pair.primary.port}`,
	`:${link.port}`,
);
await fill();

interface Outage {
	readonly begin: () => unknown;
	readonly end: () => unknown;
}
const outages: Readonly<Record<string, Outage>> = {
	killed: {
		begin: () => pair.primary.kill(),
		end: () => pair.primary.restart(),
	},
	stopped: {
		begin: () => pair.primary.pause(),
		end: () => pair.primary.resume(),
	},
	cut: { begin: () => link.hold(), end: () => link.release() },
	// To 2 s.
	slowed: {
		begin: () => {
			link.delayMs = 2_000;
		},
		end: () => {
			link.delayMs = 0;
		},
	},
};
const PARTS = [
	"calm",
	...Object.keys(outages),
	"unreplicated",
	"overload",
	"warm",
];
const parts = values.parts?.split(",") ?? PARTS;
for (const part of parts) {
	if (!PARTS.includes(part)) {
		throw new Error(`--parts takes ${PARTS.join(", ")}; got ${part}.`);
	}
}

using seen = collectEvents();
let answered = 0;
let asked = 0;
let skipped = 0;
const rows: Record<string, string | number>[] = [];
for (const part of parts) {
	const outage = outages[part];
	console.error(part);
	if (part === "calm") await measureCalm();
	else if (part === "unreplicated") await measureUnreplicated();
	else if (part === "overload") await measureOverload();
	else if (part === "warm") await measureFirstSeconds();
	else if (outage !== undefined) await measureOutage(part, outage);
}
console.table(rows);
if (asked > 0) {
	console.log(
		`calm and outages: answered ${((answered / asked) * 100).toFixed(4)} % of ${asked} reads; ${skipped} did not begin, because this process was paused; switches back are due within ${BACK_MS / 1_000} s`,
	);
}

async function measureCalm(): Promise<void> {
	const hedges = seen.count("hedge");
	const mirrors = seen.count("mirror");
	const reads = await during(() => sleep(partMs));
	rows.push({
		...rowOf("calm", reads),
		hedged: percent(seen.count("hedge") - hedges, reads.length),
		mirrored: percent(seen.count("mirror") - mirrors, reads.length),
	});
}

async function measureOutage(
	part: string,
	{ begin, end }: Outage,
): Promise<void> {
	const switches = seen.count("switchToPrimary");
	let began = 0;
	let well = 0;
	let backMs = 0;
	const reads = await during(async () => {
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
		...rowOf(part, later),
		failed: reads.filter(({ failed }) => failed).length,
		"back after s": (backMs / 1_000).toFixed(1),
	});
}

/** Replication stops, and later the primary dies: no answer of the standby may be used then. */
async function measureUnreplicated(): Promise<void> {
	await using storage = await openPair();
	await ask(pair.replica, "STOP REPLICA");
	const load = startReads(storage, rate, USERS);
	await sleep(TOO_OLD_MS);
	const began = performance.now();
	await pair.primary.kill();
	await sleep(Math.min(partMs, 10_000));
	const well = performance.now();
	await load.end();
	await pair.primary.restart();
	await ask(pair.replica, "START REPLICA");
	await caughtUp(pair);
	rows.push(
		rowOf(
			"unreplicated",
			load.reads.filter(({ at }) => at > began && at < well),
		),
	);
}

/** Four times the reads that a server carries, at the primary and, from others, at its replica: with and without the standby in turn. */
async function measureOverload(): Promise<void> {
	using _ = slowDown([pair.primary.pid, pair.replica.pid]);
	const carried = await capacity();
	const goodput = { on: [] as number[], off: [] as number[] };
	const switches = switched().length;
	for (let round = 0; round < OVERLOAD_ROUNDS; round++) {
		for (const hedging of ["on", "off"] as const) {
			await using storage = await (hedging === "on"
				? openPair()
				: openFeeds(pair.replica.url, { primary }));
			await using others = await openFeeds(pair.replica.url, {
				primary: pair.replica.url,
			});
			const load = startReads(storage, carried * OVERLOAD, USERS);
			const theirs = startReads(others, carried * OVERLOAD, USERS);
			const began = performance.now();
			await sleep(partMs / 6);
			const seconds = (performance.now() - began) / 1_000;
			const good = load.reads.filter(({ failed }) => !failed).length;
			await Promise.all([load.end(), theirs.end()]);
			goodput[hedging].push(good / seconds);
		}
	}
	const [on, off] = [median(goodput.on), median(goodput.off)];
	console.log(
		`overload: ${carried.toFixed(0)} reads/s carried, ${OVERLOAD} × as many asked for; answered a second with hedging ${on.toFixed(0)}, without ${off.toFixed(0)}: ${(on / off).toFixed(2)} ×; switches: ${switched().slice(switches).join(", ") || "none"}`,
	);
}

/** What the first second after a switch takes, by how long reads were mirrored to the replica since it was started. */
async function measureFirstSeconds(): Promise<void> {
	for (const mirroredMs of [COLD_MS, partMs]) {
		await pair.replica.kill();
		await pair.replica.restart();
		await caughtUp(pair);
		await using storage = await openPair();
		const load = startReads(storage, rate, USERS);
		await sleep(mirroredMs);
		const killed = performance.now();
		await pair.primary.kill();
		await sleep(3_000);
		await load.end();
		await pair.primary.restart();
		await caughtUp(pair);
		const since = `a replica that was started ${mirroredMs / 1_000} s before`;
		const first = load.reads.find(({ isStale }) => isStale)?.at ?? killed;
		const during = (from: number) =>
			load.reads.filter(({ at }) => at >= from && at < from + 1_000);
		rows.push(
			rowOf(`calm, beside ${since}`, during(killed - 1_500)),
			rowOf(`first second of ${since}`, during(first)),
		);
	}
}

/** Why each switch to the standby was made. */
function switched(): readonly string[] {
	return seen.events
		.filter(({ event }) => event === "switchToStandby")
		.map(({ reason }) => String(reason));
}

/** Reads a second that the primary answers if as many as ever wait. */
async function capacity(): Promise<number> {
	await using storage = await openFeeds(pair.replica.url, { primary });
	const until = performance.now() + 3_000;
	let reads = 0;
	await Promise.all(
		Array.from({ length: CALLERS }, async () => {
			while (performance.now() < until) {
				await readPage(storage, user(1 + (reads % USERS)));
				reads++;
			}
		}),
	);
	return reads / 3;
}

/** Reads beside `body`, in a process that knows nothing of the parts before: each switch in a row is held for longer. */
async function during(
	body: () => Promise<void>,
): Promise<readonly TimedRead[]> {
	await using storage = await openPair();
	const load = startReads(storage, rate, USERS);
	while (load.reads.length < WARM_READS) await sleep(50);
	const warm = load.reads.length;
	await body();
	await load.end();
	const reads = load.reads.slice(warm);
	asked += reads.length;
	answered += reads.filter(({ failed }) => !failed).length;
	skipped += load.skipped;
	return reads;
}

function rowOf(part: string, reads: readonly TimedRead[]) {
	const ms = reads.map((read) => read.ms).sort((a, b) => a - b);
	const at = (quantile: number) =>
		(ms[Math.floor(ms.length * quantile)] ?? 0).toFixed(1);
	return {
		part,
		reads: reads.length,
		failed: reads.filter(({ failed }) => failed).length,
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

function median(numbers: readonly number[]): number {
	return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
}

async function fill(): Promise<void> {
	await using direct = await openFeeds(pair.primary.url, {
		primary: pair.primary.url,
	});
	await direct.admin.createTables();
	for (let n = 1; n <= USERS; n++) {
		await addChunk(direct, user(n), n * 1_000, 100);
	}
	await caughtUp(pair);
}

/** With a standby that has a beat, which the first reads begin. */
async function openPair(): Promise<Storage> {
	const storage = await openFeeds(pair.replica.url, {
		primary,
		replica: pair.replica.url,
	});
	for (let n = 0; n < 20; n++) {
		await readPage(storage, user(1));
		await sleep(100);
	}
	return storage;
}
