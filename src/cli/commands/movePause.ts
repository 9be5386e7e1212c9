import { requireMove } from "../../fleet/move/redirect.ts";
import { wish } from "../../fleet/move/wishes.ts";
import { argument, command } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";

export const { usage, run } = command({
	summary: "Holds a move: nothing is copied and no wave goes over.",
	details: "What changes is still followed.",
	arguments: { id: argument("ID") },
	hasJson: false,
	async run({ id }, context) {
		return withFleet(context, async (fleet) => {
			await requireMove(fleet, id);
			await wish(fleet.store, id, () => ({ isPaused: true }));
			return {
				lines: [`${id} is paused. Go on: corkboard moves resume ${id}`],
			};
		});
	},
});
