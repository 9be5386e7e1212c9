import { cancelMove } from "../../fleet/move/redirect.ts";
import { argument, command } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { runOnMove } from "../move/moveCommand.ts";

export const { usage, run } = command({
	summary:
		"Gives up the waves of a move that have not gone over, and drops their copies.",
	arguments: { id: argument("ID") },
	exitCodes: FLEET_CODES,
	run: ({ id, json }, context) =>
		runOnMove(context, id, json, (options) => cancelMove(options, id)),
});
