import { requireMove } from "../../fleet/move/redirect.ts";
import { wish } from "../../fleet/move/wishes.ts";
import { UsageError } from "../arguments.ts";
import { argument, command } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";
import { WISHES, wishesOf } from "../move/moveCommand.ts";

export const { usage, run } = command({
	summary:
		"Changes the limits of a move while it runs. It follows within a second.",
	arguments: { id: argument("ID") },
	options: WISHES,
	async run({ id, json: _, ...given }, context) {
		const wishes = wishesOf(given);
		if (Object.keys(wishes).length === 0) {
			throw new UsageError(
				"Say what to set: --rate, --max-pause, --max-lag, --watch, --cut-over or --kill-blockers.",
			);
		}
		return withFleet(context, async (fleet) => {
			await requireMove(fleet, id);
			const now = await wish(fleet.store, id, () => wishes);
			return {
				value: now,
				lines: [
					`rate ${now.rate ?? "without limit"}, pause at most ${now.maxPauseMs} ms, lag at most ${now.maxLagMs} ms, cut-over ${now.cutOver}, transactions in the way are ${now.killsBlockers ? "ended" : "waited for"}`,
				],
			};
		});
	},
});
