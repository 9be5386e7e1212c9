import { moveStatus } from "../../fleet/move/moveStatus.ts";
import { argument, command, JSON_FLAG } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";
import { statusLines } from "../move/statusLines.ts";
import { text } from "../values.ts";

export const { usage, run } = command({
	summary:
		"Shows how far a move is, what it waits for, and how long the way back stays open.",
	arguments: { id: argument(text("ID")) },
	options: { json: JSON_FLAG },
	async run({ id }, context) {
		return withFleet(context, async (fleet) => {
			const status = await moveStatus(fleet, id);
			return { value: status, lines: statusLines(status) };
		});
	},
});
