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
	options: { json: JSON_OPTION },
	details: "After that there is no way back: resume completes it.",
	exitCodes: {
		1: "refused: it is over, or somebody still runs it",
		3: "it stands half-way: it has published, so only resume is left, or a server did not answer",
		4: TAKEN_OVER_MEANING,
	},
};

export async function run(
	{ operands: [id = ""], options: { json } }: ParsedArguments,
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
				const result = await undo(fleet, operation);
				context.stdout(
					json === undefined
						? describeOperation(result).join("\n")
						: JSON.stringify(result, null, "\t"),
				);
				return 0;
			},
		);
	});
}
