import { resumeMove } from "../../fleet/move/redirect.ts";
import { argument, command } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { runOnMove } from "../move/moveCommand.ts";

export const { usage, run } = command({
	summary:
		"Goes on with a move that is paused, or whose command has ended half-way.",
	arguments: { id: argument("ID") },
	exitCodes: FLEET_CODES,
	run: ({ id, json }, context) =>
		runOnMove(context, id, json, (options) => resumeMove(options, id)),
});
