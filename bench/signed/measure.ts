import { snapshot } from "../measure.ts";
import { type OpenResult, OUTCOMES } from "../overload/messages.ts";
import { sendOpenLoad } from "../overload/sendOpenLoad.ts";
import { moveToOtherCores } from "../servers/cores.ts";
import { residentMb } from "../usage.ts";
import type { World } from "../world.ts";
import { type Blend, drawBlend } from "./blend.ts";
import { type Asked, type Contender, spell } from "./systems.ts";

const PATIENCE_MS = 20_000;
/** Connections of an open loop. Fewer than Corkboard takes at once (bench/servers/corkboard.ts), so that it refuses none of them for their number. */
const OPEN_CONNECTIONS = 200;

const ANSWERED = OUTCOMES.indexOf("answered");

/** Percentiles of what was answered. Milliseconds. */
export interface Latency {
	readonly p50: number;
	readonly p99: number;
}

export interface Measured {
	/** CPU of the server a request, and of its database. Milliseconds. */
	readonly cpu: number;
	readonly databaseCpu: number;
	readonly perSecond: number;
	readonly reads: Latency;
	readonly writes: Latency;
	readonly residentMb: number;
	/** 503 or 429: the client may come again. */
	readonly refused: number;
	readonly failed: number;
	readonly firstError: string | null;
}

export interface Load {
	readonly seconds: number;
	/** Requests a second of an open loop; null: a closed one. */
	readonly rate: number | null;
	/** Connections of the closed loop. */
	readonly connections: number;
}

/** Sends what viewers ask for to one server, and reads what that took. */
export async function measureBlend(
	world: World,
	contender: Contender,
	blend: Blend,
	{ seconds, rate, connections }: Load,
): Promise<Measured> {
	const { system } = contender;
	const { port, pid } = system.server;
	const asked = drawBlend(world, system.taken, blend);
	const requests = asked.map((one) => spell(world, contender, one));
	const before = snapshot(world, system.variant, pid);
	const [result] = await sendOpenLoad(
		{
			port,
			patienceMs: PATIENCE_MS,
			clients: [
				{
					name: "viewers",
					address: "127.0.0.1",
					connections: rate === null ? connections : OPEN_CONNECTIONS,
					phases: [{ seconds, rate }],
					requests,
					seed: blend.seed,
				},
			],
		},
		moveToOtherCores,
	);
	if (result === undefined) throw new Error("The load has no result.");
	const after = snapshot(world, system.variant, pid);
	const count = Math.max(1, result.at.length);
	const isRefused = (outcome: number) =>
		OUTCOMES[outcome]?.startsWith("refused") === true;
	return {
		cpu: (after.server - before.server) / count,
		databaseCpu: (after.databases - before.databases) / count,
		perSecond: result.at.length / seconds,
		reads: latencyOf(result, asked, false),
		writes: latencyOf(result, asked, true),
		residentMb: residentMb(pid),
		refused: result.outcome.filter(isRefused).length,
		failed: result.outcome.filter(
			(outcome) => outcome !== ANSWERED && !isRefused(outcome),
		).length,
		firstError: result.firstError,
	};
}

function latencyOf(
	{ ms, request, outcome }: OpenResult,
	asked: readonly Asked[],
	isWrite: boolean,
): Latency {
	const sorted = ms
		.filter(
			(_, n) =>
				outcome[n] === ANSWERED &&
				asked[request[n] as number]?.isWrite === isWrite,
		)
		.toSorted();
	const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
	return { p50: at(0.5), p99: at(0.99) };
}
