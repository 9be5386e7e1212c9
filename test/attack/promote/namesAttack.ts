import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "../../../src/util/random.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp } from "../../services/mysql.ts";
import type { Server } from "../../services/server.ts";
import { type Acknowledged, judge } from "./evidence.ts";
import { OpenLoad, readTitles, signUp, type Writer } from "./load.ts";
import {
	BACK_MS,
	failOver,
	follow,
	type NamedFleet,
	SignUps,
	startNamedFleet,
	takeWrites,
} from "./namedFleet.ts";
import type { Options } from "./promoteAttack.ts";

/**
 * - `left`: open connections stay at the old server, which takes no writes.
 * - `cut`: they end.
 * - `late`: they end, and the name leads to the old server for a second more, which is behind from then on.
 * - `lossy`: the new server lacks the last writes, until an operator accepts that.
 */
const FLIPS = ["left", "cut", "late", "lossy"] as const;
type Flip = (typeof FLIPS)[number];

export interface NamesOptions
	extends Pick<Options, "rounds" | "reads" | "writes" | "servers"> {
	/** How long the load runs before and after a flip. Milliseconds. */
	readonly betweenMs: number;
	readonly seed: number;
}

export interface NamesRound {
	readonly flip: Flip;
	/** From the flip, or from the acceptance, until each process has begun and acknowledged a write. Milliseconds. */
	readonly backMs: number;
	readonly reads: number;
	readonly acknowledged: number;
	/** Requests that failed. */
	readonly failed: number;
	/** Requests that failed with CONFLICT, though no two writers write the same. */
	readonly conflicts: number;
	/** Acknowledged writes that are not there. */
	readonly lost: number;
	/** Writes that the acceptance names and that were never acknowledged: the answer was on its way. */
	readonly inFlight: number;
	/** What was promised and not kept. */
	readonly broken: readonly string[];
}

/** What happened around a flip. */
interface Flipped {
	readonly at: number;
	/** Until when nobody may write. */
	readonly shutUntil: number;
	/** When writes had to continue from. */
	readonly openAt: number;
	/** The writes that the acceptance names. */
	readonly named: ReadonlySet<string>;
	readonly broken: readonly string[];
}

const WRITERS = 12;
/** How long the name leads to the old server, which is behind by as much. Seconds. */
const LATE_S = 1;
/** How long writes are acknowledged that the new server lacks. Milliseconds. */
const LOSING_MS = 1_000;
/** How long writes are refused before the loss is accepted. Milliseconds. */
const REFUSED_MS = 1_000;

/** Flips a name between two servers under load, and compares the driver's own list with what is there after each flip. */
export async function attackNames(
	options: NamesOptions,
	say: (line: string) => void,
): Promise<readonly NamesRound[]> {
	const random = seededRandom(options.seed);
	const flips = Array.from({ length: options.rounds }, () =>
		random.pick(FLIPS),
	);
	const rounds: NamesRound[] = [];
	while (rounds.length < flips.length) {
		await using fleet = await startNamedFleet({
			servers: options.servers,
			env: { CORKBOARD_RATE_LIMIT: "off" },
		});
		const writers: Writer[] = [];
		for (let nth = 0; nth < WRITERS; nth++) {
			const client = fleet.clients[nth % fleet.clients.length];
			if (client) writers.push(await signUp(client, `writer_${nth}`));
		}
		let [old, next] = [fleet.a, fleet.b];
		const before: Acknowledged[] = [];
		for (;;) {
			const flip = flips[rounds.length] as Flip;
			const state = { old, next, prefix: `user_${rounds.length}_` };
			const round = await attackOnce(
				flip,
				fleet,
				{ ...state, writers, before },
				options,
			);
			rounds.push(round);
			say(
				`round ${rounds.length} of ${flips.length}: ${flip}, back after ${Math.round(round.backMs)} ms${round.broken.map((one) => `\n  ${one}`).join("")}`,
			);
			// A server that has what was lost, or is in doubt, follows nobody: a fleet of its own comes next.
			if (flip === "lossy" || round.broken.length > 0) break;
			if (rounds.length === flips.length) break;
			await ask(old, "STOP REPLICA");
			await follow(old, next);
			await caughtUp({ primary: next, replica: old });
			[old, next] = [next, old];
		}
	}
	return rounds;
}

async function attackOnce(
	flip: Flip,
	fleet: NamedFleet,
	state: {
		readonly old: Server;
		readonly next: Server;
		readonly prefix: string;
		readonly writers: readonly Writer[];
		/** Everything that former rounds acknowledged; this one's is added. */
		readonly before: Acknowledged[];
	},
	options: NamesOptions,
): Promise<NamesRound> {
	const { clients } = fleet;
	await using stack = new AsyncDisposableStack();
	const load = new OpenLoad({
		...options,
		clients,
		writers: state.writers,
		keptFailures: Number.POSITIVE_INFINITY,
	});
	stack.defer(() => load.end());
	const signUps = new SignUps(clients, state.prefix);
	stack.defer(() => signUps.end());
	await sleep(options.betweenMs);
	const flipped =
		flip === "lossy"
			? await flipLossy(fleet, state)
			: await flipLossless(flip, fleet, state);
	const broken = [...flipped.broken];
	const isBack = (by: number) =>
		load.acknowledged.some(
			(one) => one.by === by && one.at - one.ms > flipped.openAt,
		);
	await until("each process writes", () =>
		clients.every((_, by) => isBack(by)),
	).catch((thrown: Error) => broken.push(thrown.message));
	const backMs = performance.now() - flipped.openAt;
	if (backMs > BACK_MS) broken.push(`writes were back after ${backMs} ms`);
	await sleep(options.betweenMs);
	await Promise.all([load.end(), signUps.end()]);

	const acknowledged = [...load.acknowledged, ...signUps.acknowledged];
	const all = [...state.before, ...acknowledged];
	state.before.push(...acknowledged);
	const lost = new Set<string>();
	const ids = all.map(({ id }) => id);
	for (const client of clients) {
		const seen = judge(all, await readTitles([client], ids));
		for (const id of seen.lost) lost.add(id);
		broken.push(...seen.repeated.map((id) => `${id} was given twice`));
		// Not users: a lost transaction may have been the second one that wrote a user, whose first one is there.
		broken.push(
			...load.acknowledged
				.filter(({ id }) => flipped.named.has(id) && !seen.lost.includes(id))
				.map(({ id }) => `${id} is named as lost, and shown`),
		);
	}
	broken.push(
		...[...lost]
			.filter((id) => !flipped.named.has(id))
			.map((id) => `${id} is lost, and nothing says so`),
	);
	const failures = [...load.failures, ...signUps.failures];
	broken.push(...failures.filter((one) => !mayFail(one, flip, lost)));
	if (flip === "lossy") {
		if (lost.size === 0)
			broken.push("nothing was lost: the round says nothing");
		broken.push(...judgeRefusals(flipped, acknowledged));
		for (const id of lost) {
			if ((load.shown.get(id) ?? 0) > flipped.openAt) {
				broken.push(`${id} was shown after its loss was accepted`);
			}
		}
		await fleet.run("verify", "--repair");
	}
	broken.push(...(await verified(fleet, flip)));
	const known = new Set(ids);
	return {
		flip,
		backMs,
		reads: load.reads,
		acknowledged: acknowledged.length,
		failed: failures.length,
		conflicts: failures.filter((one) => one.includes('"CONFLICT"')).length,
		lost: lost.size,
		inFlight: [...flipped.named].filter(
			(name) => /^\d+$/.test(name) && !known.has(name),
		).length,
		broken,
	};
}

async function flipLossless(
	flip: Exclude<Flip, "lossy">,
	{ name }: NamedFleet,
	{ old, next }: { readonly old: Server; readonly next: Server },
): Promise<Flipped> {
	await failOver(old, next);
	if (flip === "late") await follow(old, next, LATE_S);
	if (flip !== "left") name.cut();
	if (flip === "late") {
		name.restore();
		await sleep(LATE_S * 1_000);
	}
	name.redirect(next.port);
	name.restore();
	const at = performance.now();
	return { at, shutUntil: at, openAt: at, named: new Set(), broken: [] };
}

/** Leads the name to a server that lacks the last writes, waits until they are refused everywhere, and accepts the loss. */
async function flipLossy(
	{ name, host, run, clients }: NamedFleet,
	{
		old,
		next,
		writers,
	}: {
		readonly old: Server;
		readonly next: Server;
		readonly writers: readonly Writer[];
	},
): Promise<Flipped> {
	const { boardId, token } = writers[0] as Writer;
	const broken: string[] = [];
	await ask(next, "STOP REPLICA IO_THREAD");
	await sleep(LOSING_MS);
	await takeWrites(next);
	const before = await executed(next);
	await ask(old, "SET GLOBAL super_read_only = ON");
	name.redirect(next.port);
	const at = performance.now();
	for (const client of clients) {
		const isRefused = () =>
			client
				.ask(
					"mutation ($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
					{ input: { boardId, title: "refused" } },
					token,
				)
				.then(
					() => false,
					({ message }: Error) =>
						message.includes("takes no writes: a failover has lost some"),
				);
		await until("writes are refused", isRefused).catch((thrown: Error) =>
			broken.push(thrown.message),
		);
	}
	await sleep(REFUSED_MS);
	if ((await executed(next)) !== before) {
		broken.push("something was written before the loss was accepted");
	}
	const shutUntil = performance.now();
	const { code, json } = await run("hosts", "accept-loss", host, "--yes");
	const openAt = performance.now();
	if (code !== 0) broken.push(`hosts accept-loss: ${JSON.stringify(json)}`);
	const writes: readonly { readonly wrote: readonly string[] }[] =
		json.loss?.writes ?? [];
	return {
		at,
		shutUntil,
		openAt,
		named: new Set(writes.flatMap(({ wrote }) => wrote)),
		broken,
	};
}

/** Whether a request may fail so: it was on its way over a connection that was cut, or it asked for what is lost. */
function mayFail(
	failure: string,
	flip: Flip,
	lost: ReadonlySet<string>,
): boolean {
	if (flip === "left") return false;
	if (failure.includes('"UNAVAILABLE"')) return true;
	const missed = /of (\d+) but got: null$/.exec(failure)?.[1];
	return flip === "lossy" && missed !== undefined && lost.has(missed);
}

/** Names what was acknowledged though nobody was to write: from the flip to the acceptance. */
function judgeRefusals(
	{ at, shutUntil }: Flipped,
	acknowledged: readonly Acknowledged[],
): readonly string[] {
	return acknowledged
		.filter((one) => one.at - one.ms > at && one.at < shutUntil)
		.map(({ id }) => `${id} was acknowledged before the loss was accepted`);
}

async function verified({ run }: NamedFleet, flip: Flip) {
	let found: unknown;
	try {
		await until(`verify to be clean after ${flip}`, async () => {
			found = (await run("verify")).json;
			return (found as { readonly clean: boolean }).clean;
		});
		return [];
	} catch (thrown) {
		return [`${(thrown as Error).message}: ${JSON.stringify(found)}`];
	}
}

async function executed(server: Server): Promise<unknown> {
	const [row] = await ask(server, "SELECT @@global.gtid_executed AS gtids");
	return (row as { readonly gtids: unknown } | undefined)?.gtids;
}
