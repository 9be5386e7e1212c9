import { Operation } from "../../fleet/operations/operations.ts";
import { undo } from "../../fleet/resumeOperation.ts";
import { argument, command, flag } from "../command.ts";
import { describeOperation } from "../describeOperation.ts";
import { orHalfWay, TAKEN_OVER_MEANING, withFleet } from "../fleetCommand.ts";

export const { usage, run } = command({
	summary:
		"Undoes an operation whose command has ended before it published a topology.",
	arguments: { id: argument("ID") },
	options: {
		leave: flag(
			"end it also where something cannot be undone or, once it has published, completed; it says what",
		),
	},
	details:
		"After that there is no way back: resume completes it. What was not done is not undone: an account that could not fence a server is not asked to lift a fence.",
	exitCodes: {
		1: "refused: it is over, or somebody still runs it",
		3: "it stands half-way: it has published, so only resume is left, or a server did not answer",
		4: TAKEN_OVER_MEANING,
	},
	async run({ id, leave }, context) {
		return withFleet(context, async (fleet) => {
			await using operation = await Operation.takeOver(fleet.store, id);
			return await orHalfWay(
				context,
				fleet,
				() => id,
				async () => {
					const { result, left } = await undo(fleet, operation, {
						isLeaving: leave,
					});
					return {
						value: { ...result, left },
						lines:
							left.length > 0
								? [`${id} is over. Left to you:`, ...left]
								: describeOperation(result),
					};
				},
			);
		});
	},
});
