import { Operation } from "../../ops/fleet/operations.ts";
import { proceed } from "../../ops/fleet/resumeOperation.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describeOperation } from "../describeOperation.ts";
import {
	codeOf,
	FLEET_CODES,
	lossAccepter,
	MAX_PAUSE,
	milliseconds,
	orHalfWay,
	withFleet,
} from "../fleetCommand.ts";

export const usage: Usage = {
	summary: "Goes on with an operation whose command has ended half-way.",
	operands: ["ID"],
	options: {
		"max-pause": MAX_PAUSE,
		"accept-loss": {
			description:
				"of promote --dead: give up what the replica has not received",
		},
		json: JSON_OPTION,
	},
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
		await using operation = await Operation.takeOver(fleet.store, id);
		const { record } = operation;
		// Of a promotion an interrupt ends the command at once.
		const signal =
			record.kind === "replica add" ? context.interruptSignal() : null;
		return await orHalfWay(
			context,
			fleet,
			json !== undefined,
			() => id,
			async () => {
				const result = await proceed(
					{
						...fleet,
						...(signal && { signal }),
						...(maxPauseMs !== null && { maxPauseMs }),
						acceptLoss: lossAccepter(given, context, record),
						...(json === undefined && {
							onStep: (step: string) => context.stderr(step),
						}),
					},
					operation,
				);
				context.stdout(
					json === undefined
						? describeOperation(result).join("\n")
						: JSON.stringify(result, null, "\t"),
				);
				return codeOf(result);
			},
		);
	});
}
