import { allowCutOver } from "../../fleet/move/redirect.ts";
import { argument, command, flag } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";

export const { usage, run } = command({
	summary: "Lets the next wave of a move go over as soon as it is ready.",
	details: "Whatever --cut-over says.",
	arguments: { id: argument("ID") },
	options: { all: flag("all waves that are left") },
	hasJson: false,
	async run({ id, all }, context) {
		return withFleet(context, async (fleet) => {
			const waves = await allowCutOver(fleet, id, all);
			return { lines: [`${id}: ${waves} waves may go over`] };
		});
	},
});
