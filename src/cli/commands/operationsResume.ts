import { requireUnheld } from "../../ops/fleet/operations.ts";
import { resumePromotion } from "../../ops/fleet/promote.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	codeOf,
	describePromotion,
	FLEET_CODES,
	MAX_PAUSE,
	milliseconds,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";

export const usage: Usage = {
	summary: "Goes on with an operation whose command has ended half-way.",
	operands: ["ID"],
	options: { "max-pause": MAX_PAUSE, json: JSON_OPTION },
	details:
		"Anybody may, from any machine, 3 s after the command has ended. It goes on where that was, or goes back where it cannot.",
	exitCodes: FLEET_CODES,
};

export async function run(
	{ operands: [id = ""], options: given }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { json } = given;
	const maxPauseMs = milliseconds("max-pause", given["max-pause"]);
	return withFleet(context, async (fleet) => {
		await requireUnheld(fleet.store, id);
		return orHalfWay(
			context,
			fleet,
			json !== undefined,
			() => id,
			async () => {
				const result = await resumePromotion(
					{ ...fleet, ...(maxPauseMs !== null && { maxPauseMs }) },
					id,
				);
				context.stdout(
					json === undefined
						? describePromotion(result).join("\n")
						: JSON.stringify(result, null, "\t"),
				);
				return codeOf(result);
			},
		);
	});
}
