import {
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BadRows } from "../../../src/ops/migrate/badRows.ts";
import { openSource } from "../../../src/ops/migrate/sources/openSource.ts";
import type { PassReport } from "../../../src/ops/migrate/state.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import {
	type Environment,
	runProgram,
	startProgram,
} from "../../helpers/program.ts";
import { until } from "../../helpers/until.ts";
import { startMysql } from "../../services/mysql.ts";
import { startPostgres } from "../../services/postgres.ts";
import type { Server } from "../../services/server.ts";
import { startNewSide } from "./newSide.ts";
import {
	MAPPING,
	type OldApplication,
	openOldMysql,
	openOldPostgres,
	PLANTED,
} from "./oldApplication.ts";
import { type BadRow, judge } from "./oracle.ts";

export interface AttackOptions {
	readonly from: "mysql" | "postgres";
	/** A folder, or a MySQL whose primary is killed too. */
	readonly to: "embedded" | "mysql";
	/** Lines of an import, which the old database is made of. */
	readonly lines: readonly string[];
	readonly seed: number;
	/** How often the runner is killed. */
	readonly kills: number;
	/** How often the old server is killed, and the new primary. */
	readonly outages: number;
	/** The longest life of a runner. Most live much shorter. Milliseconds. */
	readonly life: number;
	/** How long a transaction of the old application stays open, at least. Milliseconds. */
	readonly open: number;
	/** Writes of the old application in a second. */
	readonly writesPerSecond: number;
	readonly say: (text: string) => void;
	/** Ends it early, with an error. */
	readonly signal: AbortSignal;
}

export interface AttackResult {
	/** What is not as it should be. */
	readonly findings: readonly string[];
	readonly rows: number;
	readonly writes: number;
	readonly kills: number;
	readonly killsOfOld: number;
	readonly killsOfNew: number;
	/** How long a transaction was open. Seconds. */
	readonly open: number;
	/** Passes that `finish` made until one had nothing to do. */
	readonly passesToConverge: number;
	/** Lines a second of an import of the same graph. */
	readonly importRate: number;
	/** Rows a second of the first pass, and of the last one, which has nothing to do. */
	readonly firstPassRate: number;
	readonly lastPassRate: number;
	/** Rows a second of reading all tables, and nothing else. */
	readonly readRate: number;
	/** CPU seconds of the old server for a second: before the first pass and during it. Writes go on in both. */
	readonly oldServerCpu: { readonly before: number; readonly during: number };
	/** Objects and edges that both sides have, as the oracle says. */
	readonly agreed: number;
	/** What `migrate finish` compared. */
	readonly compared: object;
	/** Refused rows by reason. */
	readonly bad: Readonly<Record<string, number>>;
}

/** A minute's deletions are much of a small graph. */
const DELETE_MANY = ["--delete-many"];
/** No command takes nearly as long, on any machine. Milliseconds. */
const LIMIT_MS = 3_600_000;
/** How long CPU is measured before anything is migrated. Milliseconds. */
const IDLE_MS = 5_000;

/** Brings an old application over that keeps writing, by a runner that is killed again and again. */
export async function attackMigrate(
	options: AttackOptions,
): Promise<AttackResult> {
	const { from, lines, say } = options;
	const random = seededRandom(options.seed);
	const folder = mkdtempSync(join(tmpdir(), "attack-migrate-"));
	const mapping = join(folder, "old.ts");
	await using stack = new AsyncDisposableStack();
	stack.defer(() => rmSync(folder, { recursive: true, force: true }));
	const server = stack.use(await startOld(from));
	const old = stack.use(
		await (from === "mysql" ? openOldMysql(server) : openOldPostgres(server)),
	);
	const rows = await old.load(lines);
	say(`${rows} rows in the old database`);
	writeFileSync(mapping, MAPPING);
	const graph = join(folder, "graph.ndjson");
	writeFileSync(graph, lines.join("\n"));

	const writing = startWriting(old, random, options.writesPerSecond);
	stack.defer(() => writing.stop());
	const before = await cpuDuring(server, () => sleep(IDLE_MS));
	const importRate = await timedImport(options.to, graph);
	say(`import: ${importRate.toFixed(0)} lines a second`);

	const side = stack.use(await startNewSide(options.to));
	const env = { ...side.env, OLD_DATABASE: old.url };
	const run = (...args: readonly string[]) => {
		options.signal.throwIfAborted();
		return runProgram(args, { env, limitMs: LIMIT_MS });
	};
	const passes = () => passesOf(folder);
	const during = await cpuDuring(server, async () => {
		const { err } = await run("migrate", "run", mapping);
		if (passes().length !== 1) throw new Error(`the first pass: ${err}`);
	});
	const firstPassRate = rateOf(passes()[0]);
	say(
		`first pass: ${firstPassRate.toFixed(0)} rows a second, CPU of the old server ${before.toFixed(2)} before, ${during.toFixed(2)} during`,
	);

	const attacked = await attackRunners(options, {
		random,
		server,
		primary: side.primary,
		old,
		env,
		mapping,
		folder,
	});
	await writing.stop();
	await old.stopWrites();
	const findings = [...attacked.findings];
	const kept = passes().length;
	const ended = await run(
		"migrate",
		"finish",
		mapping,
		...DELETE_MANY,
		"--accept-bad",
		"--json",
	);
	const last = passes()
		.slice(kept)
		.filter(({ kind }) => kind === "full");
	say(`${last.length} passes to the end`);
	if (ended.code !== 0) {
		findings.push(
			`migrate finish: ${ended.code} ${ended.err} ${ended.out.slice(0, 3_000)}`,
		);
	}
	const readRate = await timedReading(old);
	// More than a program may print here.
	const bad = new BadRows(join(folder, "old.bad.ndjson")).read();
	const judged = await judge(old, side.env, bad, isPlanted);
	findings.push(...judged.findings);
	const verified = await run("verify");
	if (!/everything agrees/.test(verified.out)) {
		findings.push(
			`verify: ${verified.out.slice(-500)}${verified.err.slice(-500)}`,
		);
	}
	const fed = await run("migrate", "back-feed", mapping);
	// Nobody changed anything here.
	if (fed.out !== "") findings.push(`back-feed: ${fed.out.slice(0, 500)}`);
	const { differences: _, ...compared } =
		ended.code === 0 ? JSON.parse(ended.out).comparison : {};
	return {
		findings,
		rows,
		writes: old.writes,
		...attacked.counts,
		passesToConverge: last.length,
		importRate,
		firstPassRate,
		lastPassRate: rateOf(last.at(-1)),
		readRate,
		oldServerCpu: { before, during },
		agreed: judged.agreed,
		compared,
		bad: countsOf(bad),
	};
}

/** Nothing that was acknowledged is lost when it is killed: what the kernel has, stays. */
function startOld(from: AttackOptions["from"]): Promise<Server> {
	if (from === "mysql")
		return startMysql({ args: ["--innodb-buffer-pool-size=512M"] });
	return startPostgres({
		args: [
			"-c",
			"wal_level=logical",
			"-c",
			"synchronous_commit=on",
			"-c",
			"fsync=off",
		],
	});
}

interface Attacked {
	readonly findings: readonly string[];
	readonly counts: Pick<
		AttackResult,
		"kills" | "killsOfOld" | "killsOfNew" | "open"
	>;
}

/** Follows with runners that are killed, while servers are killed too. */
async function attackRunners(
	{ from, kills, outages, life, open, say, signal }: AttackOptions,
	{
		random,
		server,
		primary,
		old,
		env,
		mapping,
		folder,
	}: {
		readonly random: Random;
		readonly server: Server;
		readonly primary: Server | null;
		readonly old: OldApplication;
		readonly env: Environment;
		readonly mapping: string;
		readonly folder: string;
	},
): Promise<Attacked> {
	const findings: string[] = [];
	const counts = { kills: 0, killsOfOld: 0, killsOfNew: 0, open: 0 };
	const start = () =>
		startProgram(["migrate", "run", mapping, "--follow", ...DELETE_MANY], {
			env,
		});
	/** Lets a runner run for some time, and kills it. Meanwhile a server may die. */
	const attack = async (dying: Server | null) => {
		signal.throwIfAborted();
		await using runner = start();
		// Short ones, which die while they begin, and some that get far.
		const ms = 300 + random.fraction() ** 2 * life;
		if (dying !== null) {
			await sleep(ms / 2);
			// PostgreSQL would leave its other processes behind.
			await dying.kill(
				dying === server && from === "postgres" ? "SIGQUIT" : "SIGKILL",
			);
			await sleep(random.fraction() * 2_000);
			await dying.restart();
			await sleep(ms / 2);
		} else await sleep(ms);
		runner.send("SIGKILL");
		const { code, err } = await runner.ended;
		counts.kills++;
		// One that has lost a server for too long may end by itself, with a sentence.
		const isExpected =
			dying !== null &&
			/does not answer|Trying again|unavailable|ECONNREFUSED|ECONNRESET/i.test(
				err,
			);
		if ((code !== null || /corkboard: /.test(err)) && !isExpected) {
			findings.push(`a runner said: ${code} ${err.slice(0, 1_000)}`);
		}
	};
	// PostgreSQL begins a slot when the transactions that are open have ended.
	{
		await using runner = start();
		await until("the log is followed", () => stateOf(folder).follow !== null);
		runner.send("SIGKILL");
		await runner.ended;
	}
	const commitLate = await old.plantGremlins();
	const opened = performance.now();
	const isOpenLongEnough = () => performance.now() - opened >= open;
	// The old server's death would end the transaction: it dies afterwards.
	for (let nth = 1; nth <= kills / 2 || !isOpenLongEnough(); nth++) {
		const isDeath =
			primary !== null && counts.killsOfNew < outages && nth % 3 === 0;
		await attack(isDeath ? primary : null);
		if (isDeath) counts.killsOfNew++;
	}
	await commitLate();
	counts.open = (performance.now() - opened) / 1_000;
	say(
		`${counts.kills} runners were killed; a transaction was open for ${counts.open.toFixed(0)} s`,
	);
	for (
		let nth = 1;
		counts.kills < kills || counts.killsOfOld < outages;
		nth++
	) {
		const isDeath = counts.killsOfOld < outages && nth % 3 === 0;
		await attack(isDeath ? server : null);
		if (isDeath) counts.killsOfOld++;
	}
	say(
		`${counts.kills} runners were killed, the old server ${counts.killsOfOld} times, the new one ${counts.killsOfNew} times`,
	);
	return { findings, counts };
}

/** Rows that are planted so that they are refused. */
function isPlanted({ key, reason }: BadRow): boolean {
	const planted: Readonly<Record<string, RegExp>> = {
		[`User:${PLANTED.notUtf8}`]: /is not UTF-8/,
		[`User:${PLANTED.zeroDate}`]: /is the date of zeros|is no time: infinity/,
		[`User:${PLANTED.collides}`]: /is taken/,
		[`Pin:${PLANTED.usedAgain}`]: /key is used again/,
	};
	return planted[key]?.test(reason) ?? false;
}

function startWriting(old: OldApplication, random: Random, perSecond: number) {
	const stopping = new AbortController();
	const done = writeOn(old, random, perSecond, stopping.signal);
	// Thrown by stop.
	done.catch(() => {});
	return {
		stop() {
			stopping.abort();
			return done;
		},
	};
}

async function writeOn(
	old: OldApplication,
	random: Random,
	perSecond: number,
	signal: AbortSignal,
): Promise<void> {
	const began = performance.now();
	while (!signal.aborted) {
		const due = ((performance.now() - began) / 1_000) * perSecond;
		if (old.writes < due) await old.write(random);
		else await sleep(10);
	}
}

function stateOf(folder: string) {
	return JSON.parse(readFileSync(join(folder, "old.state.json"), "utf8"));
}

function passesOf(folder: string): readonly PassReport[] {
	return stateOf(folder).passes;
}

function rateOf(pass: PassReport | undefined): number {
	return pass === undefined ? 0 : pass.rows / pass.seconds;
}

/** Lines a second. */
async function timedImport(
	to: AttackOptions["to"],
	file: string,
): Promise<number> {
	await using side = await startNewSide(to);
	const run = (...args: readonly string[]) =>
		runProgram(args, { env: side.env, limitMs: LIMIT_MS });
	await run("init");
	const began = performance.now();
	const { out, err } = await run("import", file, "--json");
	const seconds = (performance.now() - began) / 1_000;
	if (!out.startsWith("{")) throw new Error(err);
	return JSON.parse(out).lines / seconds;
}

/** Rows a second of reading all tables as a pass does. */
async function timedReading({ url }: OldApplication): Promise<number> {
	await using source = await openSource(url, ".");
	const began = performance.now();
	let rows = 0;
	for (const [table, key] of [
		["users", ["id"]],
		["boards", ["id"]],
		["pins", ["id"]],
		["likes", ["id"]],
		["follows", ["follower_id", "followed_id"]],
	] as const) {
		for await (const page of source.scan({ table, key }, {}))
			rows += page.length;
	}
	return rows / ((performance.now() - began) / 1_000);
}

function countsOf(bad: readonly BadRow[]): Readonly<Record<string, number>> {
	const counts: Record<string, number> = {};
	for (const { reason } of bad) {
		const group = reason.replaceAll(/"[^"]*"|\d+/g, "…");
		counts[group] = (counts[group] ?? 0) + 1;
	}
	return counts;
}

/** CPU seconds of a server for each second that something takes. */
async function cpuDuring(
	server: Server,
	run: () => Promise<unknown>,
): Promise<number> {
	const cpu = cpuSeconds(server.pid);
	const began = performance.now();
	await run();
	const seconds = (performance.now() - began) / 1_000;
	return (cpuSeconds(server.pid) - cpu) / seconds;
}

/** The CPU time of a process, its threads, and the processes that it has started: PostgreSQL has one for each connection. */
function cpuSeconds(pid: number): number {
	const ticks = (of: string) => {
		const stat = readFileSync(`/proc/${of}/stat`, "utf8");
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields
			.slice(11, 15)
			.map(Number);
		return {
			parent: Number(fields[1]),
			own: user + system,
			ended: userOfEnded + systemOfEnded,
		};
	};
	const { own, ended } = ticks(String(pid));
	let sum = own + ended;
	for (const other of readdirSync("/proc").filter((name) =>
		/^\d+$/.test(name),
	)) {
		try {
			const { parent, own } = ticks(other);
			if (parent === pid) sum += own;
		} catch {
			// It has ended.
		}
	}
	return sum / 100;
}
