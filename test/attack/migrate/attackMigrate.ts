import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import { runProgram, startProgram } from "../../helpers/program.ts";
import { startMysql } from "../../services/mysql.ts";
import { startPostgres } from "../../services/postgres.ts";
import {
	MAPPING,
	type OldApplication,
	openOldMysql,
	openOldPostgres,
	PLANTED_BAD,
} from "./oldApplication.ts";

export interface AttackOptions {
	readonly from: "mysql" | "postgres";
	/** Lines of an import, which the old database is made of. */
	readonly lines: readonly string[];
	readonly seed: number;
	/** How often the runner is killed. */
	readonly kills: number;
	/** Writes of the old application in a second. */
	readonly writesPerSecond: number;
	readonly say: (text: string) => void;
}

export interface AttackResult {
	/** What is not as it should be. */
	readonly findings: readonly string[];
	readonly rows: number;
	readonly writes: number;
	readonly kills: number;
	/** Passes that `finish` made until one had nothing to do. */
	readonly passesToConverge: number;
	/** The first pass, in rows a second. */
	readonly firstPassRate: number;
	readonly importRate: number;
	/** CPU seconds of an old MySQL for a second of the first pass. A PostgreSQL has a process for each connection: null. */
	readonly oldServerCpu: number | null;
}

/** A minute's deletions are much of so small a graph. */
const DELETE_MANY = ["--delete-many"];
/** The longest life of a runner. Milliseconds. */
const LIFE_MS = 6_000;

/** Brings an old application over that goes on writing, by a runner that is killed again and again. */
export async function attackMigrate({
	from,
	lines,
	seed,
	kills,
	writesPerSecond,
	say,
}: AttackOptions): Promise<AttackResult> {
	const random = seededRandom(seed);
	const folder = mkdtempSync(join(tmpdir(), "attack-migrate-"));
	const mapping = join(folder, "old.ts");
	const findings: string[] = [];
	await using server =
		from === "mysql"
			? await startMysql()
			: await startPostgres({ args: ["-c", "wal_level=logical"] });
	await using old: OldApplication =
		from === "mysql"
			? await openOldMysql(server)
			: await openOldPostgres(server);
	try {
		const rows = await old.load(lines);
		say(`${rows} rows in the old database`);
		writeFileSync(mapping, MAPPING);
		const file = join(folder, "graph.ndjson");
		writeFileSync(file, lines.join("\n"));
		const importRate = await timedImport(folder, file);

		const env = {
			CORKBOARD_DATA: join(folder, "data"),
			OLD_DATABASE: old.url,
		};
		const before = cpuSeconds(server.pid);
		await runProgram(["migrate", "run", mapping], { env, limitMs: 600_000 });
		const [first] = passesOf(folder);
		const cpu = cpuSeconds(server.pid) - before;
		const firstPassRate = (first?.rows ?? 0) / (first?.seconds ?? 1);
		const oldServerCpu = from === "mysql" ? cpu / (first?.seconds ?? 1) : null;
		say(
			`import ${importRate.toFixed(0)}/s, first pass ${firstPassRate.toFixed(0)}/s`,
		);

		const commitLate = await old.plantGremlins();
		const stop = new AbortController();
		const writing = writeOn(old, random, writesPerSecond, stop.signal);
		let killed = 0;
		while (killed < kills) {
			if (killed === Math.floor(kills / 2)) await commitLate();
			const runner = startProgram(
				["migrate", "run", mapping, "--follow", ...DELETE_MANY],
				{ env },
			);
			await sleep(300 + random.fraction() * LIFE_MS);
			runner.send("SIGKILL");
			const { err } = await runner.ended;
			if (/corkboard: /.test(err)) findings.push(`a runner said: ${err}`);
			killed++;
		}
		say(`${killed} runners were killed`);
		stop.abort();
		await writing;
		await old.stopWrites();
		const kept = passesOf(folder).length;
		const ended = await runProgram(
			["migrate", "finish", mapping, ...DELETE_MANY, "--accept-bad", "--json"],
			{ env, limitMs: 600_000 },
		);
		const passes = passesOf(folder).slice(kept);
		const passesToConverge = passes.filter(
			({ kind }) => kind === "full",
		).length;
		if (ended.code !== 0) {
			findings.push(
				`migrate finish: ${ended.code} ${ended.err} ${ended.out.slice(0, 3_000)}`,
			);
		}
		const bad = await runProgram(["migrate", "bad", mapping, "--json"], {
			env,
		});
		const lost = (JSON.parse(bad.out) as { key: string; reason: string }[])
			// What refers to rows that are gone there is no edge and no pin here either.
			.filter(
				({ reason }) =>
					!/^(?:origin|to|from|board|owner): no line before/.test(reason),
			)
			.filter(({ key }) => !PLANTED_BAD.test(key));
		for (const { key, reason } of lost) findings.push(`${key}: ${reason}`);
		const verified = await runProgram(["verify"], { env, limitMs: 600_000 });
		if (!/everything agrees/.test(verified.out)) {
			findings.push(`verify: ${verified.out.slice(-500)}`);
		}
		return {
			findings,
			rows,
			writes: old.writes,
			kills: killed,
			passesToConverge,
			firstPassRate,
			importRate,
			oldServerCpu,
		};
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
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

interface Pass {
	readonly kind: string;
	readonly rows: number;
	readonly seconds: number;
}

function passesOf(folder: string): readonly Pass[] {
	return JSON.parse(readFileSync(join(folder, "old.state.json"), "utf8"))
		.passes;
}

/** Lines a second of an import of the same graph. */
async function timedImport(folder: string, file: string): Promise<number> {
	const env = { CORKBOARD_DATA: join(folder, "imported") };
	await runProgram(["init"], { env });
	const began = performance.now();
	const { out, err } = await runProgram(["import", file, "--json"], {
		env,
		limitMs: 600_000,
	});
	const seconds = (performance.now() - began) / 1_000;
	if (!out.startsWith("{")) throw new Error(err);
	return JSON.parse(out).lines / seconds;
}

/** The CPU time of a process and its threads. */
function cpuSeconds(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	const [user = 0, system = 0] = stat
		.slice(stat.lastIndexOf(")") + 2)
		.split(" ")
		.slice(11, 13)
		.map(Number);
	return (user + system) / 100;
}
