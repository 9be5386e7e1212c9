import { moveStatus } from "../../fleet/move/moveStatus.ts";
import { argument, command } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";
import { statusLines } from "../move/statusLines.ts";

export const { usage, run } = command({
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
