import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askMembers } from "../../../src/topology/asks.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runProgram } from "../../helpers/program.ts";
import { TcpProxy } from "../../helpers/tcpProxy.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";
import { judge } from "./evidence.ts";
import { startServers } from "./fleet.ts";
import { OpenLoad, readTitles } from "./load.ts";
import type { Options } from "./promoteAttack.ts";
import { isLossy, type Salvaged, salvageDead } from "./salvageDead.ts";

/**
 * - `kill`: SIGKILL, and no return before the end.
 * - `stop`: SIGSTOP, and it continues after the promotion, as if nothing had been.
 * - `cut`: it lives, but nobody reaches it until after the promotion.
 */
export type Death = "kill" | "stop" | "cut";
export const DEATHS: readonly Death[] = ["kill", "stop", "cut"];

export interface DeadRound {
	readonly death: Death;
	/** The exit code of `hosts promote --dead`. */
	readonly code: number | null;
	readonly acknowledged: number;
	/** Acknowledged to the driver, and not there afterwards. */
	readonly lost: number;
	/** Transactions that the command states as lost. */
	readonly stated: number;
	/** Lost, but not among the writes that the command names. */
	readonly unstated: readonly string[];
	/** Named as lost, but there. */
	readonly overstated: readonly string[];
	/** Named as lost, and never acknowledged to the driver: the answer was on its way. */
	readonly inFlight: number;
	readonly repeated: readonly string[];
	/** The exit code of `verify` after `verify --repair`. */
	readonly verified: number | null;
	/** Null: the old primary is left as it is. */
	readonly salvaged: Salvaged | null;
	/** Writes that were acknowledged after the promotion. */
	readonly after: number;
	/** Those that the process acknowledged which slept through the promotion. */
	readonly afterBySleeper: number;
	readonly error?: string;
}

const SECRET = "of the attack for its servers alone 32 bytes or more";
const SHARDS = 4;
const WRITERS = 12;
/** How long the replica is held back before the primary dies. Milliseconds. */
const HELD_MS = 1_000;
/** From the moment when a process is paused until the primary dies. Milliseconds. */
const SLEEPS_MS = 500;
/** From its death to the command, in which processes find out. Milliseconds. */
const DEAD_MS = 1_500;

export interface DeadAttackOptions
	extends Omit<Options, "rounds" | "store" | "stop"> {
	/** Whether `hosts salvage` brings back what the old primary alone has, and when. */
	readonly salvage: "never" | "before repair" | "after repair";
}

/** One pair, whose primary dies under load while its replica is held back, and whose replica is promoted. */
export async function attackDead(
	death: Death,
	options: DeadAttackOptions,
	say: (line: string) => void,
): Promise<DeadRound> {
	await using stack = new AsyncDisposableStack();
	const pair = stack.use(await startMysqlPair());
	const { primary, replica } = pair;
	const link = stack.use(await TcpProxy.to(primary.port));
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	const named = `127.0.0.1:${link.port}`;
	const hosts = {
		primary: primary.url.replace(primary.address, named),
		replica: replica.url,
	};
	const range = [0, SHARDS - 1];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, ...hosts, open: true }],
			lookups: [{ range, ...hosts }],
		}),
	);
	const env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_MODE: "development",
		CORKBOARD_SECRET: SECRET,
		CORKBOARD_LOG: "json",
		CORKBOARD_RATE_LIMIT: "off",
		HOST: "127.0.0.1",
	};
	const run = (...args: string[]) => runProgram(args, { env });
	const init = await run("init");
	if (init.code !== 0) throw new Error(`init failed: ${init.err}`);
	await caughtUp(pair);
	const { servers, clients, writers } = await startServers(
		stack,
		env,
		options.servers,
		WRITERS,
	);
	await caughtUp(pair);

	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());
	await sleep(options.betweenMs);
	// What is acknowledged from here on, the replica does not get.
	await ask(replica, "STOP REPLICA IO_THREAD");
	await sleep(HELD_MS);
	const sleeper = servers.at(-1);
	sleeper?.send("SIGSTOP");
	// What it was acknowledged last, the others are past.
	await sleep(SLEEPS_MS);
	stack.defer(() => sleeper?.send("SIGCONT"));
	if (death === "kill") await primary.kill();
	else if (death === "stop") primary.pause();
	else link.cut();
	await sleep(DEAD_MS);
	const ended = await run(
		...[
			"hosts",
			"promote",
			named,
			"--dead",
			"--yes",
			"--accept-loss",
			"--json",
		],
	);
	const promotedAt = performance.now();
	say(`${death}: exit ${ended.code}`);
	const result = parsed(ended.out);
	// It is back, with its kept connections, and so is the process that slept.
	if (death === "stop") primary.resume();
	else if (death === "cut") link.restore();
	await sleep(50);
	sleeper?.send("SIGCONT");
	await sleep(options.betweenMs);
	await load.end();

	const { acknowledged } = load;
	// The sleeper's too: whatever it says is there has to be.
	const found = await readTitles(
		clients.slice(0, 1),
		acknowledged.map(({ id }) => id),
	);
	const { lost, repeated } = judge(acknowledged, found);
	const stated = await statedWrites(file, named, result?.loss ?? null);
	const known = new Set(acknowledged.map(({ id }) => id));
	const after = acknowledged.filter(({ at }) => at > promotedAt);
	const salvaging = {
		options,
		clients,
		writers,
		acknowledged,
		lost,
		run,
		env,
		host: named,
		conflicts: join(folder.path, "conflicts.ndjson"),
	};
	// The disk is back. A dead one takes writes again, until somebody fences it.
	if (options.salvage !== "never" && death === "kill") await primary.restart();
	let salvaged: Salvaged | null = null;
	if (options.salvage === "before repair") {
		salvaged = await salvageDead(salvaging);
	}
	await run("verify", "--repair");
	if (options.salvage === "after repair") {
		salvaged = await salvageDead(salvaging);
	}
	const verified = await run("verify");
	return {
		death,
		code: ended.code,
		acknowledged: acknowledged.length,
		lost: lost.length,
		stated: result?.loss?.transactions ?? 0,
		unstated: lost.filter((id) => !stated.has(id)),
		overstated: [...stated].filter((id) => found.has(id)),
		inFlight: [...stated].filter(
			(name) => /^\d+$/.test(name) && !known.has(name),
		).length,
		repeated,
		verified: verified.code,
		salvaged,
		after: after.length,
		afterBySleeper: after.filter(({ by }) => by === clients.length - 1).length,
		...((ended.code !== 0 || verified.code !== 0) && {
			error: `${ended.out}${ended.err}${verified.out}${verified.err}`.trim(),
		}),
	};
}

/** By now the sleeper, too, says what it was acknowledged of the stated transactions. */
async function statedWrites(
	file: string,
	host: string,
	loss: NonNullable<ReturnType<typeof parsed>>["loss"],
): Promise<ReadonlySet<string>> {
	if (loss === null) return new Set();
	await using store = openFileStore(file);
	const asked = { host, missing: loss.gtids };
	const { answered } = await askMembers(store, asked, 30_000);
	const remembered = answered.flatMap(({ answer }) => answer.writes);
	return new Set([...loss.writes, ...remembered].flatMap(wroteOf));
}

/** Whether a round did not keep what is promised. */
export function isBroken(round: DeadRound): boolean {
	const { code, unstated, overstated, repeated, verified, after } = round;
	return (
		(code !== 0 && code !== 3) ||
		unstated.length + overstated.length + repeated.length > 0 ||
		verified !== 0 ||
		after === 0 ||
		(round.salvaged !== null && isLossy(round.salvaged)) ||
		round.afterBySleeper === 0
	);
}

function wroteOf({ wrote }: { readonly wrote: readonly string[] }) {
	return wrote;
}

function parsed(text: string): {
	readonly loss: {
		readonly gtids: string;
		readonly transactions: number;
		readonly writes: readonly { readonly wrote: readonly string[] }[];
	} | null;
} | null {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
