import {
	isOver,
	Operation,
	requireRecord,
} from "../../fleet/operations/operations.ts";
import { undo } from "../../fleet/resumeOperation.ts";
import { argument, command, DRY_RUN_FLAG, flag } from "../command.ts";
import { describeOperation } from "../describeOperation.ts";
import {
	isConfirmed,
	orHalfWay,
	TAKEN_OVER_MEANING,
	withFleet,
} from "../fleetCommand.ts";

export const { usage, run } = command({
	summary:
		"Undoes an operation whose command has ended before it published a topology.",
	arguments: { id: argument("ID") },
	options: {
		leave: flag(
			"end it also where something cannot be undone or, once it has published, completed; it says what",
		),
		dryRun: DRY_RUN_FLAG,
		yes: flag("of --leave: do not ask"),
	},
	details:
		"After that there is no way back: resume completes it. What was not done is not undone: an account that could not fence a server is not asked to lift a fence.",
	exitCodes: {
		1: "refused: it is over, or somebody still runs it",
		3: "it stands half-way: it has published, so only resume is left, or a server did not answer",
		4: TAKEN_OVER_MEANING,
	},
	async run({ id, leave, dryRun, yes }, context) {
		return withFleet(context, async (fleet) => {
			const { record } = await requireRecord(fleet.store, id);
			if (dryRun) {
				const cannot =
					isOver(record) || (record.step === "published" && !leave);
				return {
					value: { operation: id, step: record.step, left: [] },
					lines: [
						`${id} is at ${record.step}: ${cannot ? "it cannot be undone" : "it would be ended, if nobody runs it"}`,
					],
					code: cannot ? 1 : 0,
				};
			}
			const question = `${id} ends at ${record.step}, also if something is neither undone nor completed: a server may be left read-only, or take writes.`;
			if (leave && !(await isConfirmed(context, { yes }, question))) return 1;
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
