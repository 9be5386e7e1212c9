import { reverseMove, reverseWave } from "../../fleet/move/redirect.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { REDIRECTING, redirectMove } from "../move/moveCommand.ts";
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
		...REDIRECTING,
	},
	exitCodes: FLEET_CODES,
	async run({ keep, wave, ...given }, context) {
		if (keep && wave !== undefined) {
			throw new UsageError("--keep is of all waves: leave it or --wave out.");
		}
		const { id } = given;
		return redirectMove(
			context,
			given,
			`${wave === undefined ? "All waves go" : `Wave ${wave} goes`} back to where ${wave === undefined ? "they were" : "it was"}${keep ? "" : ", and the copies are dropped"}. Writes to each wave wait for a moment.`,
			(options) =>
				wave === undefined
					? reverseMove(options, id, { keepsWay: keep })
					: reverseWave(options, id, wave),
		);
	},
});
