import { reverseMove } from "../../fleet/move/redirect.ts";
import { argument, command, flag } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { runOnMove } from "../move/moveCommand.ts";

export const { usage, run } = command({
	summary:
		"Brings the waves of a move back to where they were, with all that was written since.",
	arguments: { id: argument("ID") },
	options: {
		keep: flag("keep the copies there, so that it can be reversed once more"),
	},
	exitCodes: FLEET_CODES,
	run: ({ id, keep, json }, context) =>
		runOnMove(context, id, json, (options) =>
			reverseMove(options, id, { keepsWay: keep }),
		),
});
