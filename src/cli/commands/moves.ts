import { moveStatus } from "../../fleet/move/moveStatus.ts";
import {
	allowCutOver,
	cancelMove,
	completeMove,
	requireMove,
	resumeMove,
	reverseMove,
	reverseWave,
} from "../../fleet/move/redirect.ts";
import { wish } from "../../fleet/move/wishes.ts";
import { moveFactsIn } from "../../fleet/operations/moveFacts.ts";
import type { OperationRecord } from "../../fleet/operations/operationRecord.ts";
import { isOver, readOperations } from "../../fleet/operations/operations.ts";
import { isHeld } from "../../fleet/operations/signOfLife.ts";
import type { TopologyStore } from "../../topology/store.ts";
import { plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { FLEET_CODES, withFleet } from "../fleetCommand.ts";
import {
	REDIRECTING,
	redirectMove,
	runOnMove,
	WISHES,
	wishesOf,
} from "../move/moveCommand.ts";
import { statusLines } from "../move/statusLines.ts";
import { table } from "../table.ts";
import { formatShards, integer } from "../values.ts";

const show = command({
	isWatched: true,
	summary:
		"Shows how far a move is, what it waits for, and how long the way back stays open.",
	arguments: { id: argument("ID") },
	async run({ id }, context) {
		return withFleet(context, async (fleet) => {
			const status = await moveStatus(fleet, id);
			return { value: status, lines: statusLines(status) };
		});
	},
});

const pause = command({
	summary: "Pauses a move: nothing is copied, and no wave switches.",
	details: "It still follows what changes.",
	arguments: { id: argument("ID") },
	hasJson: false,
	async run({ id }, context) {
		return withFleet(context, async (fleet) => {
			await requireMove(fleet, id);
			await wish(fleet.store, id, () => ({ isPaused: true }));
			return {
				lines: [`${id} is paused. Continue: corkboard moves resume ${id}`],
			};
		});
	},
});

const resume = command({
	summary:
		"Continues a move that is paused, or whose command ended before the move did.",
	arguments: { id: argument("ID") },
	exitCodes: FLEET_CODES,
	run: ({ id, json }, context) =>
		runOnMove(context, id, json, (options) => resumeMove(options, id)),
});

const set = command({
	summary:
		"Changes the limits of a move while it runs. It follows within a second.",
	arguments: { id: argument("ID") },
	options: WISHES,
	async run({ id, json: _, ...given }, context) {
		const wishes = wishesOf(given);
		if (Object.keys(wishes).length === 0) {
			throw new UsageError(
				"Say what to set: --rate, --max-pause, --max-lag, --settle, --cut-over or --kill-blockers.",
			);
		}
		return withFleet(context, async (fleet) => {
			await requireMove(fleet, id);
			const now = await wish(fleet.store, id, () => wishes);
			return {
				value: now,
				lines: [
					`rate ${now.rate ?? "without limit"}, pause at most ${now.maxPauseMs} ms, lag at most ${now.maxLagMs} ms, cut-over ${now.cutOver}, transactions in the way are ${now.killsBlockers ? "ended" : "waited for"}`,
				],
			};
		});
	},
});

const cutOver = command({
	summary: "Lets the next wave of a move switch as soon as it is ready.",
	details: "It does so whatever --cut-over says.",
	arguments: { id: argument("ID") },
	options: { all: flag("all waves that are left") },
	hasJson: false,
	async run({ id, all }, context) {
		return withFleet(context, async (fleet) => {
			const waves = await allowCutOver(fleet, id, all);
			return { lines: [`${id}: ${plural(waves, "wave")} may switch`] };
		});
	},
});

const reverse = command({
	summary:
		"Brings the waves of a move back to where they were, with all that was written since.",
	arguments: { id: argument("ID") },
	options: {
		keepCopies: flag(
			"keep the copies on the other side, so that the move can be reversed once more",
		),
		wave: option(
			integer(1, 65_536, "N"),
			"only this wave, counted from 1: it goes back for good, and the others keep their way back",
		),
		...REDIRECTING,
	},
	exitCodes: FLEET_CODES,
	async run({ keepCopies, wave, ...given }, context) {
		if (keepCopies && wave !== undefined) {
			throw new UsageError(
				"--keep-copies is for all waves: leave it or --wave out.",
			);
		}
		const { id } = given;
		return redirectMove(
			context,
			given,
			`${wave === undefined ? "All waves go" : `Wave ${wave} goes`} back to where ${wave === undefined ? "they were" : "it was"}${keepCopies ? "" : ", and the copies are dropped"}. Writes to each wave wait for a moment.`,
			(options) =>
				wave === undefined
					? reverseMove(options, id, { keepsWay: keepCopies })
					: reverseWave(options, id, wave),
		);
	},
});

const complete = command({
	summary:
		"Ends a move: compares the former copies with what is served, and drops them.",
	arguments: { id: argument("ID") },
	options: {
		noRehearsal: flag("drop them without having shown that the way back works"),
		...REDIRECTING,
	},
	details: "After that there is no way back but another move.",
	exitCodes: FLEET_CODES,
	run: ({ noRehearsal, ...given }, context) =>
		redirectMove(
			context,
			given,
			`The former copies are ${noRehearsal ? "" : "compared and "}dropped. After that there is no way back but another move.`,
			(options) =>
				completeMove(options, given.id, { skipsRehearsal: noRehearsal }),
		),
});

const cancel = command({
	summary:
		"Gives up the waves of a move that have not switched, and drops their copies.",
	arguments: { id: argument("ID") },
	options: REDIRECTING,
	exitCodes: FLEET_CODES,
	run: (given, context) =>
		redirectMove(
			context,
			given,
			"Waves that have not switched are given up, and their copies are dropped.",
			(options) => cancelMove(options, given.id),
		),
});

const list = command({
	isWatched: true,
	summary: "Lists the moves that are not over, and who runs them.",
	options: { all: flag("also those that are over") },
	async run({ all }, context) {
		return withFleet(context, async ({ store }) => {
			const { records } = await readOperations(store);
			const moves = await Promise.all(
				records.flatMap((record) => {
					if (record.kind !== "move" || (isOver(record) && !all)) return [];
					return [describeListed(store, record)];
				}),
			);
			return {
				value: moves,
				lines:
					moves.length === 0
						? ["no move is under way"]
						: table([
								["move", "what", "from", "to", "step", "waves", "run by"],
								...moves.map((one) => [
									one.id,
									`${one.list} ${formatShards(one.range)}`,
									one.from,
									one.to,
									one.step,
									`${one.over} of ${one.waves}`,
									one.isHeld ? "a process" : "nobody",
								]),
							]),
			};
		});
	},
});

async function describeListed(store: TopologyStore, record: OperationRecord) {
	const { list, waves } = moveFactsIn(record);
	const range = [waves[0]?.range[0] ?? 0, waves.at(-1)?.range[1] ?? 0] as const;
	return {
		id: record.id,
		list,
		range,
		from: record.from,
		to: record.to,
		step: record.step,
		waves: waves.length,
		over: waves.filter(({ at }) => at === "to").length,
		isHeld: !isOver(record) && (await isHeld(store, record.id)),
	};
}

export const verbs = {
	list,
	show,
	pause,
	resume,
	set,
	"cut-over": cutOver,
	reverse,
	complete,
	cancel,
};
