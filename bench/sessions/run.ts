import { snapshot } from "../measure.ts";
import { OUTCOMES } from "../overload/messages.ts";
import type { Progress } from "../progress.ts";
import { percentilesOf, spreadOf } from "../report/statistics.ts";
import { residentMb } from "../usage.ts";
import type { World } from "../world.ts";
import { SUFFIX } from "./agree.ts";
import { type Counted, countersOf, perRequest } from "./counters.ts";
import type { Crowds } from "./crowds.ts";
import { isWrite, KINDS, type Kind } from "./documents.ts";
import type { Checked, SessionResult } from "./messages.ts";
import type { Pauses, SessionOptions } from "./options.ts";
import type { Contender } from "./systems.ts";

const PATIENCE_MS = 20_000;

/** The longest turn of one server while all are warmed up. */
const WARM_SECONDS = 15;

/** How long answers took. Milliseconds. */
export interface Latency {
	readonly p50: number;
	readonly p99: number;
	readonly p999: number;
	readonly count: number;
}

/** One measurement. */
export interface Cell {
	/** `closed loop`, or an open loop at a share of it. */
	readonly row: string;
	readonly round: number;
	readonly title: string;
	/** CPU of a request, in milliseconds: of the server, its databases, its caches, all of them, and of the people. */
	readonly cpu: number;
	readonly databaseCpu: number;
	readonly cacheCpu: number;
	readonly allCpu: number;
	readonly peopleCpu: number;
	/** The part of a core. */
	readonly busy: number;
	readonly perSecond: number;
	readonly reads: Latency;
	readonly writes: Latency;
	readonly kinds: Readonly<Record<Kind, Latency>>;
	readonly residentMb: number;
	/** 503 or 429: the client comes again. */
	readonly refused: number;
	readonly failed: number;
	readonly firstError: string | null;
	readonly checked: Checked;
	readonly signedIn: number;
	readonly bytes: number;
	readonly lateMs: number;
	readonly starved: number;
	readonly counted: Counted;
}

interface RunOf {
	readonly world: World;
	readonly contenders: readonly Contender[];
	readonly crowds: Crowds;
	readonly options: SessionOptions;
	readonly progress: Progress;
}

/** The measurements of one run. */
export class Run {
	readonly #of: RunOf;
	readonly cells: Cell[] = [];
	#turn = 0;

	constructor(of: RunOf) {
		this.#of = of;
	}

	get failed(): number {
		return this.cells.reduce((sum, { failed }) => sum + failed, 0);
	}

	/**
	 * What V8 compiles, and what a cache in the process holds. In turns: the first one
	 * fills the caches that all share, and would have other misses than the others.
	 */
	async warm(): Promise<void> {
		const { contenders, options, progress } = this.#of;
		const seconds = options.warm / options.ways.length;
		const turns = Math.ceil(seconds / WARM_SECONDS);
		for (let turn = 1; turn <= turns; turn++) {
			progress.say(`warming up: turn ${turn} of ${turns}`);
			for (const contender of contenders) {
				await this.#send(contender, seconds / turns, null);
			}
		}
	}

	async closed(): Promise<void> {
		const { contenders, options } = this.#of;
		for (let round = 0; round < options.rounds; round++) {
			for (const contender of contenders) {
				await this.#measure("closed loop", round, contender, null);
			}
		}
	}

	/** People do not wait for each other. */
	async open(): Promise<void> {
		const { contenders, options } = this.#of;
		for (let round = 0; round < options.rounds; round++) {
			for (const share of options.open) {
				for (const contender of contenders) {
					const carried = spreadOf(
						this.cells
							.filter(
								({ row, title }) =>
									row === "closed loop" && title === contender.title,
							)
							.map(({ perSecond }) => perSecond),
					);
					await this.#measure(
						`open loop, ${share} of its own closed loop`,
						round,
						contender,
						(carried?.median ?? 0) * share,
					);
				}
			}
		}
	}

	async #measure(
		row: string,
		round: number,
		contender: Contender,
		rate: number | null,
	): Promise<void> {
		const { world, options } = this.#of;
		const { system, title } = contender;
		const { pid } = system.server;
		const countersBefore = await countersOf(system.admin);
		const before = snapshot(world, system.variant, pid);
		using _ =
			rate === null || options.pauses === null
				? null
				: pausing(pid, options.pauses);
		const result = await this.#send(contender, options.seconds, rate);
		const after = snapshot(world, system.variant, pid);
		const countersAfter = await countersOf(system.admin);
		const requests = Math.max(1, result.kind.length);
		const per = (name: "server" | "databases" | "caches") =>
			(after[name] - before[name]) / requests;
		const isRefused = (outcome: number) =>
			OUTCOMES[outcome]?.startsWith("refused") === true;
		const answered = result.outcome.filter(
			(outcome) => OUTCOMES[outcome] === "answered",
		).length;
		const refused = result.outcome.filter(isRefused).length;
		this.#keep({
			row,
			round,
			title,
			cpu: per("server"),
			databaseCpu: per("databases"),
			cacheCpu: per("caches"),
			allCpu: per("server") + per("databases") + per("caches"),
			peopleCpu: result.cpuMs / requests,
			busy: (after.server - before.server) / (after.at - before.at),
			perSecond: result.kind.length / result.seconds,
			reads: latencyOf(result, (kind) => !isWrite(kind)),
			writes: latencyOf(result, isWrite),
			kinds: Object.fromEntries(
				KINDS.map((kind) => [kind, latencyOf(result, (one) => one === kind)]),
			) as Record<Kind, Latency>,
			residentMb: residentMb(pid),
			refused,
			failed: requests - answered - refused,
			firstError: result.firstError ?? result.firstWrong,
			checked: result.checked,
			signedIn: result.signedIn / requests,
			bytes: result.bytes / requests,
			lateMs: result.lateMs,
			starved: result.starved,
			counted: perRequest(countersBefore, countersAfter, requests),
		});
	}

	#send(
		{ system, way }: Contender,
		seconds: number,
		rate: number | null,
	): Promise<SessionResult> {
		const { crowds, options } = this.#of;
		return crowds.send({
			crowd: system.crowd,
			port: system.server.port,
			flavor: system.flavor,
			way,
			suffix: system.isOurs ? SUFFIX : "",
			connections: options.connections,
			patienceMs: PATIENCE_MS,
			seconds,
			rate,
			seed: options.seed * 1_000 + this.#turn++,
		});
	}

	#keep(cell: Cell): void {
		this.cells.push(cell);
		const { reads, writes, checked } = cell;
		const wrong = Object.entries(checked)
			.filter(([, { wrong }]) => wrong > 0)
			.map(([name, { wrong }]) => `${wrong} ${name}`);
		this.#of.progress.say(
			[
				`${cell.row} ${cell.round + 1}`.padEnd(15),
				cell.title.padEnd(28),
				`${cell.cpu.toFixed(3)} + ${cell.databaseCpu.toFixed(3)} + ${cell.cacheCpu.toFixed(3)} ms CPU`,
				`${cell.perSecond.toFixed(0)}/s`.padStart(7),
				`${(cell.busy * 100).toFixed(0)} %`,
				`reads ${reads.p50.toFixed(1)} · ${reads.p99.toFixed(0)} · ${reads.p999.toFixed(0)}`,
				`writes ${writes.p50.toFixed(1)} · ${writes.p99.toFixed(0)} ms`,
				`${cell.residentMb.toFixed(0)} MB`,
				...(cell.refused > 0 ? [`${cell.refused} refused`] : []),
				...(wrong.length > 0 ? [`wrong: ${wrong.join(", ")}`] : []),
				...(cell.failed > 0 ? [`${cell.failed} failed`] : []),
				...(cell.firstError === null ? [] : [cell.firstError.slice(0, 400)]),
			].join("  "),
		);
	}
}

/** Stops a process for a time, over and over, as a busy machine does. */
function pausing(pid: number, { ms, everySeconds }: Pauses): Disposable {
	let resuming: NodeJS.Timeout | null = null;
	const timer = setInterval(() => {
		process.kill(pid, "SIGSTOP");
		resuming = setTimeout(() => process.kill(pid, "SIGCONT"), ms);
	}, everySeconds * 1_000);
	return {
		[Symbol.dispose]() {
			clearInterval(timer);
			if (resuming !== null) clearTimeout(resuming);
			process.kill(pid, "SIGCONT");
		},
	};
}

function latencyOf(
	{ kind, outcome, ms }: SessionResult,
	isWanted: (kind: Kind) => boolean,
): Latency {
	const found = ms.filter(
		(_, n) =>
			OUTCOMES[outcome[n] as number] === "answered" &&
			isWanted(KINDS[kind[n] as number] as Kind),
	);
	const { at } = percentilesOf(found);
	return {
		p50: at(0.5),
		p99: at(0.99),
		p999: at(0.999),
		count: found.length,
	};
}
