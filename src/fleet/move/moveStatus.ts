import { z } from "zod";
import { requireCurrent } from "../map/publish.ts";
import { type MoveFacts, moveFactsIn } from "../operations/moveFacts.ts";
import { type Undo, undoOf } from "../operations/moveTable.ts";
import { lookAtHolder, readReport } from "../operations/signOfLife.ts";
import type { MoveOptions } from "./moveRun.ts";
import { MoveServers } from "./moveServers.ts";
import { requireMove } from "./redirect.ts";
import { type MoveResult, moveResult } from "./result.ts";
import { readWishes, type Wishes } from "./wishes.ts";

/** What a runner says of the wave that it works on, with its signs of life. */
const report = z.object({
	wave: z.int(),
	waitsFor: z.string().nullable(),
	step: z.string(),
	tables: z.object({ copied: z.number(), total: z.number() }),
	rows: z.object({
		copied: z.number(),
		total: z.number(),
		perSecond: z.number(),
	}),
	lagMs: z.number().nullable(),
	verified: z.object({ tables: z.number(), total: z.number() }),
	differences: z.number(),
	secondsLeft: z.number().nullable(),
	throttledBy: z.string().nullable(),
	throttledShare: z.number(),
});

export type MoveReport = z.infer<typeof report>;

export interface MoveStatus extends MoveResult {
	readonly goal: MoveFacts["goal"];
	/** Whether somebody runs it now. */
	readonly isHeld: boolean;
	readonly holder: string;
	readonly wishes: Wishes;
	/** The report of the wave in progress; null: nobody says. */
	readonly running: MoveReport | null;
	/** How many waves can go back, and how much binary log there is for that, in seconds; null: it is kept for ever, or not known. */
	readonly wayBack: { readonly waves: number; readonly seconds: number | null };
	/** How many waves each command would undo. */
	readonly undo: { readonly cancel: number; readonly reverse: number };
	readonly log: readonly string[];
}

const SHOWN = 5;
const ANSWER_MS = 3_000;

export async function moveStatus(
	options: Pick<MoveOptions, "store" | "environment">,
	id: string,
): Promise<MoveStatus> {
	const { store } = options;
	const { record } = await requireMove(options, id);
	const facts = moveFactsIn(record);
	const [{ isHeld }, text, wishes] = await Promise.all([
		lookAtHolder(store, id),
		readReport(store, id),
		readWishes(store, id),
	]);
	const parked = facts.waves.filter(({ state }) => state === "parked");
	return {
		...moveResult(record),
		goal: facts.goal,
		isHeld,
		holder: record.holder,
		wishes,
		running: isHeld ? reportIn(text) : null,
		wayBack: {
			waves: parked.length,
			seconds: parked.length === 0 ? null : await wayBack(options, facts),
		},
		undo: undoable(facts),
		log: record.log.slice(-SHOWN),
	};
}

function undoable({ waves }: MoveFacts): MoveStatus["undo"] {
	const count = (by: Undo) =>
		waves.filter(({ state }) => undoOf(state) === by).length;
	return { cancel: count("cancel"), reverse: count("reverse") };
}

function reportIn(text: string | null): MoveReport | null {
	if (text === null) return null;
	const parsed = report.safeParse(JSON.parse(text));
	return parsed.success ? parsed.data : null;
}

/** For how long a primary keeps its binary log; null: for ever, or it does not answer. */
async function wayBack(
	{ store, environment }: Pick<MoveOptions, "store" | "environment">,
	facts: MoveFacts,
): Promise<number | null> {
	const { topology } = await requireCurrent(store);
	await using servers = new MoveServers(facts, topology, environment);
	const [wave] = facts.waves.filter(({ state }) => state === "parked");
	const { primary } = servers.at(wave?.at ?? "to");
	if ((await primary.silence(ANSWER_MS)) !== null) return null;
	const [kept] = await primary.row(
		"retention",
		"SELECT @@GLOBAL.binlog_expire_logs_seconds",
	);
	return Number(kept) === 0 ? null : Number(kept);
}
