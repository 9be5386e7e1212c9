import { Operation } from "../../ops/fleet/operations.ts";
import { undo } from "../../ops/fleet/resumeOperation.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describeOperation } from "../describeOperation.ts";
import { orHalfWay, TAKEN_OVER_MEANING, withFleet } from "../fleetCommand.ts";

export const usage: Usage = {
	summary:
		"Undoes an operation whose command has ended before it published a topology.",
	operands: ["ID"],
	options: {
		leave: {
			description:
				"end it also where something cannot be undone or, once it has published, completed; it says what",
		},
		json: JSON_OPTION,
	},
	details:
		"After that there is no way back: resume completes it. What was not done is not undone: an account that could not fence a server is not asked to lift a fence.",
	exitCodes: {
		1: "refused: it is over, or somebody still runs it",
		3: "it stands half-way: it has published, so only resume is left, or a server did not answer",
		4: TAKEN_OVER_MEANING,
	},
};

export async function run(
	{ operands: [id = ""], options: { json, leave } }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	return withFleet(context, async (fleet) => {
		await using operation = await Operation.takeOver(fleet.store, id);
		return await orHalfWay(
			context,
			fleet,
			json !== undefined,
			() => id,
			async () => {
				const { result, left } = await undo(fleet, operation, {
					isLeaving: leave !== undefined,
				});
				if (json !== undefined) {
					context.stdout(JSON.stringify({ ...result, left }, null, "\t"));
				} else if (left.length > 0) {
					context.stdout([`${id} is over. Left to you:`, ...left].join("\n"));
				} else context.stdout(describeOperation(result).join("\n"));
				return 0;
			},
		);
	});
}
