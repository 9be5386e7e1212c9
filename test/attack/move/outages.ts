import { setTimeout as sleep } from "node:timers/promises";
import type { Pair } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import {
	faultsOf,
	fencedAfter,
	type Judgement,
	judgeAll,
} from "./judgement.ts";
import {
	type LoadOptions,
	type MoveFleet,
	moveTo,
	startMoveFleet,
} from "./moveFleet.ts";
import { type Aim, disturb, type Fault, runToEnd } from "./runner.ts";

/** One command during which a server was away. */
export interface Outage {
	readonly what: string;
	readonly step: string;
	readonly isReached: boolean;
	/** How often it was continued. */
	readonly resumed: number;
	readonly seconds: number;
	readonly awayMs: number;
	/** How long writes waited for a fence once the server was there again. */
	readonly fencedAfterMs: number;
	readonly error?: string;
}

export interface OutageReport extends Judgement {
	readonly outages: readonly Outage[];
	readonly broken: readonly string[];
}

/** A pause of the runner, and what it takes to lift the fence of one that is dead. Milliseconds. */
const FENCED_MS = 1_000 + 3_000;
/** A server stays away for so long before it is started again. Milliseconds. */
const AWAY_MS = 1_000;
const STORE_AWAY_MS = 5_000;

/** The step that is over when a server is killed, and what is under way then. */
const MOVE_STEPS = {
	prepared: "copy",
	copied: "stream and comparison",
	verified: "before the cut-over",
	"cutting over": "fence",
	fenced: "cut-over",
	published: "watch",
	agreed: "park",
} as const;
const COMPLETE_STEPS = { begun: "rehearsal", rehearsed: "drop" } as const;
const STORE_STEPS = {
	"cutting over": "fence",
	fenced: "cut-over",
	ready: "publication",
	published: "watch",
} as const;

/** Moves shards while each of the four servers, and the store, is away once in each step. */
export async function attackOutages(
	options: LoadOptions,
	say: (line: string) => void,
): Promise<OutageReport> {
	await using moved = await startMoveFleet(options, say);
	const attack = new Attack(moved, options, say);
	await attack.run();
	const { outages } = attack;
	const judgement = await judgeAll(moved, say);
	const late = outages.filter(({ fencedAfterMs }) => fencedAfterMs > FENCED_MS);
	return {
		...judgement,
		outages,
		broken: [
			...outages
				.filter(({ isReached }) => !isReached)
				.map(({ what }) => `${what}: the move did not end`),
			...late.map(
				({ what, fencedAfterMs }) =>
					`${what}: writes waited for a fence for ${Math.round(fencedAfterMs)} ms more`,
			),
			...faultsOf(judgement),
		],
	};
}

class Attack {
	readonly outages: Outage[] = [];
	readonly #moved: MoveFleet;
	readonly #options: LoadOptions;
	readonly #say: (line: string) => void;
	/** Which pair shards move from now, and which they move to. */
	#source: Pair;
	#target: Pair;

	constructor(
		moved: MoveFleet,
		options: LoadOptions,
		say: (line: string) => void,
	) {
		this.#moved = moved;
		this.#options = options;
		this.#say = say;
		[this.#source, this.#target] = moved.pairs;
	}

	/** Until each server was away in each step, or a move does not end. */
	async run(): Promise<void> {
		const [store] = this.#moved.fleet.zookeepers;
		const planned = [
			...Object.entries(store === undefined ? {} : STORE_STEPS).map(
				([step, during]) =>
					() =>
						killed(`store: ${during}`, step, store as Server, STORE_AWAY_MS),
			),
			...ROLES.flatMap((role) =>
				Object.entries(MOVE_STEPS).map(
					([step, during]) =>
						() =>
							killed(`${role}: ${during}`, step, this.#serverOf(role)),
				),
			),
		];
		const closing = ROLES.flatMap((role) =>
			Object.entries(COMPLETE_STEPS).map(
				([step, during]) =>
					() =>
						killed(
							`${role}: ${during}`,
							step === "begun" ? null : step,
							this.#serverOf(role),
						),
			),
		);
		for (const fault of planned) {
			const id = await this.#run(
				{
					way: "move",
					args: moveTo(this.#target, this.#options),
					id: null,
					at: "to",
					step: "way open",
				},
				fault(),
			);
			if (id === null) return;
			const done = await this.#run(
				{
					way: "complete",
					args: ["moves", "complete", id, "--yes"],
					id,
					at: "to",
					step: "done",
				},
				closing.shift()?.() ?? null,
			);
			if (done === null) return;
			[this.#source, this.#target] = [this.#target, this.#source];
		}
	}

	#serverOf(role: Role): Server {
		const pair = role.startsWith("source") ? this.#source : this.#target;
		return role.endsWith("replica") ? pair.replica : pair.primary;
	}

	/** The id; null: it did not end. */
	async #run(aim: Aim, fault: Fault | null): Promise<string | null> {
		const { fleet, store, fences, load } = this.#moved;
		const before = performance.now();
		const ran = await runToEnd(
			{ env: fleet.env, store },
			aim,
			fault === null ? [] : [fault],
		);
		const [happened] = ran.happened;
		const outage: Outage = {
			what: happened?.what ?? "nothing",
			step: happened?.step ?? "none",
			isReached: ran.isReached,
			resumed: ran.resumed,
			seconds: (performance.now() - before) / 1_000,
			awayMs: happened === undefined ? 0 : happened.backAt - happened.at,
			fencedAfterMs:
				happened === undefined ? 0 : fencedAfter(fences.fenced, happened),
			...(!ran.isReached && {
				error: `${ran.ended.out}${ran.ended.err}`.trim(),
			}),
		};
		if (fault !== null) this.outages.push(outage);
		this.#say(
			`${aim.way}, ${outage.what} after ${outage.step}: ${ran.isReached ? `over after ${outage.seconds.toFixed(1)} s` : `NOT AS IT SHOULD: ${outage.error}`}, resumed ${ran.resumed} times; away for ${Math.round(outage.awayMs)} ms, fenced for ${Math.round(outage.fencedAfterMs)} ms more; ${load.acknowledged.length} writes, ${load.failed} failed`,
		);
		return ran.isReached ? ran.id : null;
	}
}

type Role = (typeof ROLES)[number];

const ROLES = [
	"target",
	"target's replica",
	"source",
	"source's replica",
] as const;

/** Kills a server with SIGKILL, and starts it again. */
function killed(
	what: string,
	afterStep: string | null,
	server: Server,
	awayMs = AWAY_MS,
): Fault {
	return disturb(what, afterStep, async () => {
		// A command that has just been started has done nothing yet.
		if (afterStep === null) await sleep(Math.random() * 3_000);
		await server.kill();
		await sleep(awayMs);
		await server.restart();
	});
}
