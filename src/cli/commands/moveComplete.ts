import { completeMove } from "../../fleet/move/redirect.ts";
import { argument, command, flag } from "../command.ts";
import { FLEET_CODES } from "../fleetCommand.ts";
import { REDIRECTING, redirectMove } from "../move/moveCommand.ts";

export const { usage, run } = command({
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
