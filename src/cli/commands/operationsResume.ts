import { resumePromotion } from "../../ops/fleet/promote.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describePromotion, withFleet } from "../fleetCommand.ts";

export const usage: Usage = {
	summary: "Goes on with an operation whose command has ended half-way.",
	operands: ["ID"],
	options: {},
	details:
		"Anybody may, from any machine, 3 s after the command has ended. It goes on where that was, or goes back where it cannot.",
};

export async function run(
	{ operands: [id = ""] }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	return withFleet(context, async (fleet) => {
		const result = await resumePromotion(fleet, id);
		context.stdout(describePromotion(result).join("\n"));
		return result.version === null ? 1 : 0;
	});
}
