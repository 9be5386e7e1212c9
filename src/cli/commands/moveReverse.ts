import { reverseMove, reverseWave } from "../../fleet/move/redirect.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { runOnMove } from "../move/moveCommand.ts";
import { integer } from "../values.ts";

export const { usage, run } = command({
	summary:
		"Brings the waves of a move back to where they were, with all that was written since.",
	arguments: { id: argument("ID") },
	options: {
		keep: flag("keep the copies there, so that it can be reversed once more"),
		wave: option(
			integer(1, 65_536, "N"),
			"only this one, counted from 1: it goes back for good, and the others keep their way back",
		),
	},
	exitCodes: FLEET_CODES,
	async run({ id, keep, wave, json }, context) {
		if (keep && wave !== undefined) {
			throw new UsageError("--keep is of all waves: leave it or --wave out.");
		}
		return runOnMove(context, id, json, (options) =>
			wave === undefined
				? reverseMove(options, id, { keepsWay: keep })
				: reverseWave(options, id, wave),
		);
	},
});
