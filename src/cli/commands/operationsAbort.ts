import { abortPromotion } from "../../ops/fleet/promote.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describePromotion, withFleet } from "../fleetCommand.ts";

export const usage: Usage = {
	summary:
		"Undoes an operation whose command has ended before it published a topology.",
	operands: ["ID"],
	options: {},
	details: "After that there is no way back: resume completes it.",
};

export async function run(
	{ operands: [id = ""] }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	return withFleet(context, async (fleet) => {
		const result = await abortPromotion(fleet, id);
		context.stdout(describePromotion(result).join("\n"));
		return 0;
	});
}
