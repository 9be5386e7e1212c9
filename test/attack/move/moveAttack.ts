import { setTimeout as sleep } from "node:timers/promises";
import { cpuMs } from "../../../bench/usage.ts";
import { moveFactsIn } from "../../../src/fleet/operations/moveFacts.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import { MOVE_EVENTS } from "../moveEvents.ts";
import {
	faultsOf,
	fencedAfter,
	type Judgement,
	judgeAll,
	type Served,
	servedBetween,
} from "./judgement.ts";
import {
	type LoadOptions,
	type MoveFleet,
	moveTo,
	startMoveFleet,
} from "./moveFleet.ts";
import { type Aim, type Fault, killRunner, runToEnd } from "./runner.ts";

export interface Options extends LoadOptions {
	/** How often everything moves there and back. */
	readonly rounds: number;
	/** How long the load runs before the first move, and between moves. Milliseconds. */
	readonly betweenMs: number;
	/** How often a runner is killed at a random moment, and its move resumed, over as many rounds as that takes. */
	readonly kills: number;
	/** Whether one server is paused (SIGSTOP) across each move; its requests may fail then. */
	readonly stop: boolean;
	/** When runners are killed follows from it. */
	readonly seed: number;
}

/** One command, with those that continued with it. */
export interface Way extends Served {
	readonly way: Aim["way"];
	readonly isReached: boolean;
	readonly code: number | null;
	readonly seconds: number;
	/** The steps after which its runner was killed. */
	readonly killedAfter: readonly string[];
	/** The longest that writes waited for a fence after a runner had died. */
	readonly fencedAfterMs: number;
	/** From the fence to the publication of each wave, as the record says. Milliseconds. */
	readonly pauses: readonly number[];
	/** CPU time of the server processes, for each request. */
	readonly cpuMs: number;
	readonly error?: string;
}

export interface Report extends Judgement {
	readonly options: Options;
	/** While nothing moved. */
	readonly calm: Served & { readonly cpuMs: number };
	readonly ways: readonly Way[];
	/** What was not as promised, as sentences. */
	readonly broken: readonly string[];
}

/** Until compilers have seen the load. Milliseconds. */
const WARM_MS = 10_000;
/** In which a runner is killed that was not seen to end by itself yet. Milliseconds. */
const KILLED_WITHIN_MS = 6_000;
/** For how long writes may wait after a runner died. Milliseconds. */
const FENCED_MS = 3_000;
const KILLS_OF_A_COMMAND = 2;
/** Within which a runner is killed after a step. Milliseconds. */
const AFTER_STEP_MS = 200;
/** Moves shards to another pair and back under load, and compares the driver's own list with what is there in the end. */
export async function attackMoves(
	options: Options,
	say: (line: string) => void,
): Promise<Report> {
	await using moved = await startMoveFleet(options, say);
	const attack = new Attack(moved, options, say);
	await sleep(WARM_MS);
	await attack.run();
	const judgement = await judgeAll(moved, say);
	const { ways, calm, killed } = attack;
	const longest = Math.max(0, ...ways.map((way) => way.fencedAfterMs));
	return {
		...judgement,
		options,
		ways,
		calm: meanOf(calm),
		broken: [
			...(ways.every(({ isReached }) => isReached)
				? []
				: ["not every move ended"]),
			...(judgement.failed > 0 && !options.stop
				? [`${judgement.failed} requests failed`]
				: []),
			...(longest > FENCED_MS
				? [
						`writes waited ${Math.round(longest)} ms for a fence whose runner was dead`,
					]
				: []),
			...(killed < options.kills ? [`only ${killed} runners were killed`] : []),
			...faultsOf(judgement),
		],
	};
}

class Attack {
	readonly ways: Way[] = [];
	readonly calm: (Served & Used)[] = [];
	killed = 0;
	readonly #moved: MoveFleet;
	readonly #options: Options;
	readonly #say: (line: string) => void;
	/** What commands took that nobody killed. Milliseconds. */
	readonly #took = new Map<string, number>();
	readonly #random: Random;

	constructor(moved: MoveFleet, options: Options, say: (line: string) => void) {
		this.#moved = moved;
		this.#options = options;
		this.#say = say;
		this.#random = seededRandom(options.seed);
	}

	/** Until all rounds and kills are done, or a move does not end. */
	async run(): Promise<void> {
		const { rounds, kills } = this.#options;
		const [, target] = this.#moved.pairs;
		await this.#calmly();
		for (let round = 1; ; round++) {
			const id = await this.#goWay({
				way: "move",
				args: moveTo(target, this.#options),
				id: null,
				at: "to",
				step: "way open",
			});
			if (id === null) return;
			// A round kills four at most.
			const isLast = round >= rounds && this.killed >= kills;
			for (const aim of isLast ? lastOf(id) : [homeOf(id)]) {
				await this.#calmly();
				if ((await this.#goWay(aim)) === null) return;
			}
			if (isLast) return;
			await this.#calmly();
		}
	}

	async #calmly(): Promise<void> {
		const used = usedFrom(this.#moved);
		const from = performance.now();
		await sleep(this.#options.betweenMs);
		const { shards } = this.#options;
		this.calm.push({
			...servedBetween(this.#moved, shards, from, performance.now()),
			...used(),
		});
	}

	/** The id of the move; null: it did not end as it should. */
	async #goWay(aim: Aim): Promise<string | null> {
		const { fleet, store, load, fences } = this.#moved;
		const before = performance.now();
		const used = usedFrom(this.#moved);
		const still = this.#options.stop
			? fleet.servers[this.ways.length % fleet.servers.length]
			: undefined;
		still?.send("SIGSTOP");
		const ran = await runToEnd(
			{ env: fleet.env, store },
			aim,
			this.#killsFor(aim.way),
		);
		still?.send("SIGCONT");
		const over = performance.now();
		if (ran.resumed === 0) this.#took.set(aim.way, over - before);
		this.killed += ran.happened.length;
		const waves = ran.record === null ? [] : moveFactsIn(ran.record).waves;
		const way: Way = {
			...servedBetween(this.#moved, this.#options.shards, before, over),
			...used(),
			way: aim.way,
			isReached: ran.isReached,
			code: ran.ended.code,
			seconds: (over - before) / 1_000,
			killedAfter: ran.happened.map(({ step }) => step),
			fencedAfterMs: Math.max(
				0,
				...ran.happened.map((each) => fencedAfter(fences.fenced, each)),
			),
			pauses:
				aim.way === "complete"
					? []
					: waves.flatMap(({ pauses }) => pauses.at(-1) ?? []),
			...(!ran.isReached && {
				error: `${ran.ended.out}${ran.ended.err}`.trim(),
			}),
		};
		this.ways.push(way);
		this.#say(
			`${aim.way} of ${ran.id}: exit ${way.code} after ${way.seconds.toFixed(1)} s${way.isReached ? "" : `, NOT AS IT SHOULD: ${way.error}`}; killed ${this.killed} in all, now after ${way.killedAfter.join(", ") || "nothing"}, and fenced for ${Math.round(way.fencedAfterMs)} ms then; pauses ${way.pauses.join(" ")} ms; ${load.failed} requests failed`,
		);
		return ran.isReached ? ran.id : null;
	}

	#killsFor(way: Aim["way"]): readonly Fault[] {
		const { kills } = this.#options;
		const count = Math.min(KILLS_OF_A_COMMAND, kills - this.killed);
		return Array.from({ length: count }, () => {
			const isAfterStep = this.#random.chance(0.5);
			const step = this.#random.pick(MOVE_EVENTS[way]);
			const most = isAfterStep
				? AFTER_STEP_MS
				: (this.#took.get(way) ?? KILLED_WITHIN_MS);
			return killRunner({
				afterStep: isAfterStep ? step : null,
				ms: this.#random.fraction() * most,
			});
		});
	}
}

/** Back, and to the end there. */
function homeOf(id: string): Aim {
	return {
		way: "reverse",
		args: ["moves", "reverse", id, "--yes"],
		id,
		at: "from",
		step: "rolled back",
	};
}

/** Back, there again, and to the end there. */
function lastOf(id: string): readonly Aim[] {
	const args = ["moves", "reverse", id, "--keep-copies", "--yes"];
	return [
		{ way: "reverse", args, id, at: "from", step: "way open" },
		{ way: "reverse", args, id, at: "to", step: "way open" },
		{
			way: "complete",
			args: ["moves", "complete", id, "--yes"],
			id,
			at: "to",
			step: "done",
		},
	];
}

interface Used {
	readonly cpuMs: number;
}

/** What the server processes take of the processor for each request, from now until it is asked. */
function usedFrom({ fleet, load }: MoveFleet): () => Used {
	const now = () => ({
		cpu: fleet.servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
		requests: load.answered.length + load.acknowledged.length,
	});
	const before = now();
	return () => {
		const { cpu, requests } = now();
		const count = Math.max(1, requests - before.requests);
		return { cpuMs: (cpu - before.cpu) / count };
	};
}

/** The mean of each figure; the highest of the slowest writes. */
function meanOf<T extends Served & Used>(all: readonly T[]): Served & Used {
	const mean = (of: (one: T) => number) =>
		all.reduce((sum, one) => sum + of(one), 0) / Math.max(1, all.length);
	return {
		slowestWriteMs: Math.max(0, ...all.map((one) => one.slowestWriteMs)),
		movedReadP99Ms: mean((one) => one.movedReadP99Ms),
		otherReadP99Ms: mean((one) => one.otherReadP99Ms),
		movedWriteP99Ms: mean((one) => one.movedWriteP99Ms),
		otherWriteP99Ms: mean((one) => one.otherWriteP99Ms),
		cpuMs: mean((one) => one.cpuMs),
	};
}
