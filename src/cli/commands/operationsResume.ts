import { Operation } from "../../fleet/operations/operations.ts";
import { proceed } from "../../fleet/resumeOperation.ts";
import { argument, command, flag } from "../command.ts";
import {
	ended,
	FLEET_CODES,
	lossAccepter,
	MAX_PAUSE,
	orHalfWay,
	withTracedFleet,
} from "../fleetCommand.ts";
import { startGuard } from "../move/startGuard.ts";
import { present } from "../values.ts";

export const { usage, run } = command({
	summary: "Goes on with an operation whose command has ended half-way.",
	arguments: { id: argument("ID") },
	options: {
		maxPause: MAX_PAUSE,
		acceptLoss: flag(
			"of hosts promote --dead: give up what the replica has not received",
		),
	},
	details:
		"Anybody may, from any machine, 3 s after the command has ended. It goes on where that was, or goes back where it cannot.",
	exitCodes: FLEET_CODES,
	async run({ id, maxPause, acceptLoss, json }, context) {
		return withTracedFleet(context, async (fleet) => {
			await using operation = await Operation.takeOver(fleet.store, id);
			const { record } = operation;
			const isMove = record.kind === "move";
			// An interrupt ends the command of a promotion at once.
			const signal =
				isMove || record.kind === "replica add"
					? context.interruptSignal()
					: undefined;
			using _guard = isMove ? startGuard(context, id) : null;
			const onStep = json ? undefined : (step: string) => context.stderr(step);
			return await orHalfWay(
				context,
				fleet,
				() => id,
				async () =>
					ended(
						await proceed(
							{
								...fleet,
								...present({ signal, onStep, maxPauseMs: maxPause }),
								acceptLoss: lossAccepter(acceptLoss, context, record),
							},
							operation,
						),
					),
			);
		});
	},
});
