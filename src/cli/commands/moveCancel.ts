import { cancelMove } from "../../fleet/move/redirect.ts";
import { argument, command } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { REDIRECTING, redirectMove } from "../move/moveCommand.ts";

export const { usage, run } = command({
	summary:
		"Gives up the waves of a move that have not gone over, and drops their copies.",
	arguments: { id: argument("ID") },
	options: REDIRECTING,
	exitCodes: FLEET_CODES,
	run: (given, context) =>
		redirectMove(
			context,
			given,
			"What has not gone over is given up, and its copies are dropped.",
			(options) => cancelMove(options, given.id),
		),
});
