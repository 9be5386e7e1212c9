import { type Random, seededRandom } from "../../../src/util/random.ts";
import type { PlannedMove } from "../move/besideFaults.ts";
import { MOVE_EVENTS } from "../moveEvents.ts";
import { MEMCACHED, REDIS, SERVICES, type ServiceName } from "./attackFleet.ts";
import type { Disturbance, Side } from "./links.ts";

/** One fault, from `at` on for `ms`. Milliseconds since the start of the attack. */
export type Fault = { readonly at: number; readonly ms: number } & (
	| {
			readonly kind: "links";
			readonly services: readonly ServiceName[];
			readonly sides: readonly Side[];
			readonly disturbance: Disturbance;
	  }
	| {
			readonly kind: "freeze";
			readonly server: number;
			readonly isBusy: boolean;
	  }
	| { readonly kind: "kill"; readonly server: number }
	| { readonly kind: "pause"; readonly service: ServiceName }
	| { readonly kind: "restart"; readonly service: ServiceName }
	| { readonly kind: "topology"; readonly isBroken: boolean }
	/** How many of each the map names from then on. */
	| {
			readonly kind: "caches";
			readonly objects: number;
			readonly lists: number;
	  }
	/** A move of shards to the other host, to an end there or back. `ms` is 0: it takes as long as it takes. */
	| ({ readonly kind: "move" } & PlannedMove)
	| { readonly kind: "verify" }
	| { readonly kind: "import" }
);

/** Nothing is wrong for so long, so that what happened has to be visible to all. */
const QUIET_MS = 9_000;
const QUIET_EVERY_MS = 40_000;
const FIRST_MS = 1_000;
/** What goes wrong when: the same for the same seed. */
export function scheduleFaults(
	seed: number,
	totalMs: number,
	servers: number,
): readonly Fault[] {
	const random = seededRandom(seed);
	const faults: Fault[] = [];
	let at = FIRST_MS;
	let quietAt = QUIET_EVERY_MS;
	while (at < totalMs) {
		if (at >= quietAt) {
			faults.push({ kind: "verify", at: at + 2_000, ms: 0 });
			at += QUIET_MS + random.integer(0, 15_000);
			quietAt = at + QUIET_EVERY_MS;
			continue;
		}
		const fault = draw(random, at, servers);
		faults.push(fault);
		// An import while a cache is away.
		if (fault.ms > 4_000 && fault.kind === "links" && random.chance(0.25)) {
			faults.push({ kind: "import", at: at + 1_000, ms: 0 });
		}
		// Sometimes the next comes while this one lasts.
		at += Math.round(
			random.chance(0.4)
				? random.integer(100, 3_000)
				: Math.min(fault.ms, 20_000) + random.integer(200, 4_000),
		);
		// No quiet time comes before long faults have ended.
		if (at >= quietAt) {
			at = Math.max(at, ...faults.map((one) => one.at + one.ms));
		}
	}
	return [...faults, ...scheduleMoves(seededRandom(seed + 3), totalMs)]
		.filter((fault) => fault.at < totalMs)
		.toSorted((a, b) => a.at - b.at);
}

/** One after another, also in quiet times: nobody may notice them. */
function scheduleMoves(random: Random, totalMs: number): readonly Fault[] {
	const moves: Fault[] = [];
	let at = random.integer(2_000, 5_000);
	while (at < totalMs) {
		const end = random.pick([
			"complete",
			"reverse",
			"reverse",
			"cancel",
		] as const);
		const kill = (steps: readonly string[]) =>
			random.chance(0.6)
				? { afterStep: random.pick(steps), ms: random.integer(0, 200) }
				: { afterStep: null, ms: random.integer(500, 6_000) };
		const first = end === "cancel" ? MOVE_EVENTS.copy : MOVE_EVENTS.move;
		moves.push({
			kind: "move",
			at,
			ms: 0,
			end,
			list: random.chance(0.75) ? "shards" : "lookups",
			first: random.integer(0, 3),
			count: random.integer(1, 2),
			kills: random.chance(0.5) ? [kill(first), kill(MOVE_EVENTS[end])] : [],
		});
		at += random.integer(6_000, 15_000);
	}
	return moves;
}

function draw(random: Random, at: number, servers: number): Fault {
	const server = random.integer(0, servers - 1);
	const kinds: readonly (readonly [number, () => Fault])[] = [
		[45, () => drawLinks(random, at, server, servers)],
		[
			14,
			() => ({
				kind: "freeze",
				at,
				ms: random.chance(0.4)
					? random.integer(16_000, 22_000)
					: random.integer(500, 8_000),
				server,
				isBusy: random.chance(0.6),
			}),
		],
		[8, () => ({ kind: "kill", at, ms: random.integer(200, 3_000), server })],
		[
			6,
			() => ({
				kind: "pause",
				at,
				ms: random.integer(300, 12_000),
				service: random.pick([...MEMCACHED, ...REDIS]),
			}),
		],
		[
			7,
			() => ({
				kind: "restart",
				at,
				ms: random.integer(0, 3_000),
				service: random.pick([...MEMCACHED, ...REDIS]),
			}),
		],
		[
			5,
			() => ({
				kind: "pause",
				at,
				ms: random.integer(300, 5_000),
				service: random.pick(["mysql0", "mysql1"]),
			}),
		],
		[
			4,
			() => ({
				kind: "restart",
				at,
				ms: random.integer(0, 1_000),
				service: random.pick(["mysql0", "mysql1"]),
			}),
		],
		[
			4,
			() => ({
				kind: "topology",
				at,
				ms: random.integer(500, 4_000),
				isBroken: random.chance(0.5),
			}),
		],
		[
			8,
			() => ({
				kind: "caches",
				at,
				ms: 4_000,
				objects: random.integer(1, 2),
				lists: random.integer(1, 2),
			}),
		],
	];
	let left =
		random.fraction() * kinds.reduce((sum, [weight]) => sum + weight, 0);
	for (const [weight, make] of kinds) {
		left -= weight;
		if (left < 0) return make();
	}
	throw new RangeError("expected a kind of fault");
}

function drawLinks(
	random: Random,
	at: number,
	server: number,
	servers: number,
): Fault {
	const sides: readonly Side[] = random.chance(0.7)
		? [server]
		: random.chance(0.5)
			? [server, (server + 1) % servers]
			: ["all"];
	const services = random.chance(0.45)
		? random.pick<readonly ServiceName[]>([
				["memcached"],
				["redis"],
				["redis1"],
				["memcached1", "redis"],
				[...MEMCACHED, ...REDIS],
			])
		: random.shuffled(SERVICES).slice(0, random.pick([1, 1, 1, 2, 2, 3, 4]));
	const draw = random.fraction();
	const isDatabase = services.some((name) => name.startsWith("mysql"));
	// If many are cut off from a database for long, nothing is left to look at.
	const longest = !isDatabase
		? 40_000
		: sides[0] === "all"
			? 2_500
			: sides.length > 1
				? 6_000
				: 25_000;
	const ms = Math.min(
		longest,
		draw < 0.35
			? random.integer(50, 300)
			: draw < 0.65
				? random.integer(1_000, 6_000)
				: random.integer(8_000, 40_000),
	);
	const how = random.fraction();
	const disturbance: Disturbance =
		how < 0.5
			? { kind: "cut" }
			: how < 0.8
				? { kind: "hold", direction: random.pick(["to", "from", "both"]) }
				: { kind: "slow", ms: random.pick([20, 60, 150, 400]) };
	return { kind: "links", at, ms, services, sides, disturbance };
}

/** One line for the report. */
export function describeFault(fault: Fault): string {
	const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
	const length = `for ${seconds(fault.ms)}`;
	switch (fault.kind) {
		case "links": {
			const { disturbance, services, sides } = fault;
			const what =
				disturbance.kind === "cut"
					? "cut"
					: disturbance.kind === "hold"
						? `hold ${disturbance.direction === "both" ? "to and from" : disturbance.direction}`
						: `slow down by ${disturbance.ms} ms`;
			const who =
				sides[0] === "all" ? "all servers" : `server ${sides.join(" and ")}`;
			return `${what} ${services.join(", ")} for ${who} ${length}`;
		}
		case "freeze":
			return `freeze server ${fault.server}${fault.isBusy ? " during renames and moves" : ""} ${length}`;
		case "kill":
			return `kill server ${fault.server}, start it after ${seconds(fault.ms)}`;
		case "pause":
			return `pause ${fault.service} ${length}`;
		case "restart":
			return `kill ${fault.service}, start it after ${seconds(fault.ms)}`;
		case "topology":
			return fault.isBroken
				? `write half of a topology, and all of it after ${seconds(fault.ms)}`
				: "raise the topology's version";
		case "caches":
			return `caches set: ${fault.objects} memcached, ${fault.lists} Redis`;
		case "move": {
			const { list, first, count, end, kills } = fault;
			const killed = kills.map(
				({ afterStep, ms }) => `${ms} ms after ${afterStep ?? "its start"}`,
			);
			return `move ${list === "shards" ? (count > 1 ? "two shards" : "shard") : count > 1 ? "two lookups" : "lookup"} ${first} to the other host, then ${end}${killed.length === 0 ? "" : `; runners killed ${killed.join(" and ")}`}`;
		}
		case "verify":
			return "verify beside the load";
		case "import":
			return "import beside the load";
	}
}
