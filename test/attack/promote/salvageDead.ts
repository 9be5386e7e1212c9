import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
	type Ended,
	type Environment,
	startProgram,
} from "../../helpers/program.ts";
import { type Acknowledged, judge } from "./evidence.ts";
import { type Client, OpenLoad, readTitles, type Writer } from "./load.ts";
import type { Options } from "./promoteAttack.ts";

/** What `hosts salvage` made of what a failover had lost. */
export interface Salvaged {
	/** Exit codes of the run that ended, and of another one after it. */
	readonly codes: readonly (number | null)[];
	/** Acknowledged writes that were lost, and of those how many are back. */
	readonly lost: number;
	readonly back: number;
	/** Lost, not back, and not in the file of conflicts. */
	readonly missing: readonly string[];
	readonly conflicts: number;
	/** Rows that the second run brought back. */
	readonly again: number;
	/** Pins that are on their board more than once, or not at all; boards whose count is not that of their pins. */
	readonly wrong: readonly string[];
	/** Writes of the load meanwhile: acknowledged; refused, as by a server that has too much to do; acknowledged and not there afterwards. */
	readonly written: number;
	readonly failed: number;
	readonly lostMeanwhile: number;
	readonly error?: string;
}

/** In which the first run is killed. Milliseconds. */
const KILLED_WITHIN_MS = 4_000;
const PAGE = 100;

/** Runs `hosts salvage` under load: one run is killed, one ends, and one finds nothing to do. */
export async function salvageDead({
	options,
	clients,
	writers,
	acknowledged,
	lost,
	run,
	env,
	host,
	conflicts,
}: {
	readonly options: Pick<Options, "reads" | "writes">;
	readonly clients: readonly Client[];
	readonly writers: readonly Writer[];
	readonly acknowledged: readonly Acknowledged[];
	readonly lost: readonly string[];
	readonly run: (...args: string[]) => Promise<Ended>;
	readonly env: Environment;
	readonly host: string;
	readonly conflicts: string;
}): Promise<Salvaged> {
	const load = new OpenLoad({ ...options, clients, writers });
	const args = [
		...["hosts", "salvage", host, "--conflicts", conflicts],
		...["--yes", "--json"],
	];
	const ended: Ended[] = [];
	try {
		await using killed = startProgram(args, { env });
		await sleep(Math.random() * KILLED_WITHIN_MS);
		killed.send("SIGKILL");
		await killed.ended;
		ended.push(await run(...args));
		ended.push(await run(...args));
	} finally {
		await load.end();
	}
	const before = new Set(lost);
	const wanted = acknowledged.filter(({ id }) => before.has(id));
	const all = [...acknowledged, ...load.acknowledged];
	const found = await readTitles(
		clients.slice(0, 1),
		all.map(({ id }) => id),
	);
	const still = new Set(judge(wanted, found).lost);
	const kept = existsSync(conflicts) ? readFileSync(conflicts, "utf8") : "";
	const [, again] = ended.map(({ out }) => parsed(out));
	const isFailed = ended.some(({ code }) => code !== 0 && code !== 3);
	return {
		codes: ended.map(({ code }) => code),
		lost: wanted.length,
		back: wanted.length - still.size,
		missing: [...still].filter((id) => !kept.includes(`"${id}"`)),
		conflicts: kept.split("\n").filter((line) => line !== "").length,
		again: again === undefined ? -1 : again,
		wrong: await wrongBoards(clients[0] as Client, writers, found),
		written: load.acknowledged.length,
		failed: load.failed,
		lostMeanwhile: judge(load.acknowledged, found).lost.length,
		...(isFailed && {
			error: [...ended.map(({ out, err }) => out + err), ...load.failures].join(
				"\n",
			),
		}),
	};
}

/** Whether it did not keep what is promised. */
export function isLossy({
	codes,
	lost,
	back,
	missing,
	again,
	wrong,
	lostMeanwhile,
}: Salvaged): boolean {
	return (
		codes.some((code) => code !== 0 && code !== 3) ||
		back < lost * 0.99 ||
		missing.length + wrong.length + lostMeanwhile > 0 ||
		again !== 0
	);
}

/** Rows that a run has brought back; undefined if it printed none. */
function parsed(text: string): number | undefined {
	try {
		const { objects, edges, lookups } = JSON.parse(text);
		return objects.back + edges.back + lookups.back;
	} catch {
		return undefined;
	}
}

/** Each pin that exists has to be on one page of one board, once. */
async function wrongBoards(
	client: Client,
	writers: readonly Writer[],
	found: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
	const seen = new Map<string, number>();
	const wrong: string[] = [];
	for (const { boardId, token } of writers) {
		let after: string | null = null;
		let pins = 0;
		let total = 0;
		do {
			const { board } = (await client.ask(
				`query ($id: ID!, $after: String) { board(id: $id) { pins(first: ${PAGE}, after: $after) { totalCount nodes { id } pageInfo { endCursor hasNextPage } } } }`,
				{ id: boardId, after },
				token,
			)) as {
				readonly board: {
					readonly pins: {
						readonly totalCount: number;
						readonly nodes: readonly { readonly id: string }[];
						readonly pageInfo: {
							readonly endCursor: string | null;
							readonly hasNextPage: boolean;
						};
					};
				};
			};
			const { nodes, totalCount, pageInfo } = board.pins;
			for (const { id } of nodes) seen.set(id, (seen.get(id) ?? 0) + 1);
			pins += nodes.length;
			total = totalCount;
			after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
		} while (after !== null);
		if (pins !== total) wrong.push(`board ${boardId}: ${pins} of ${total}`);
	}
	for (const id of found.keys()) {
		const times = seen.get(id) ?? 0;
		if (times !== 1) wrong.push(`pin ${id}: ${times} times`);
	}
	return wrong;
}
