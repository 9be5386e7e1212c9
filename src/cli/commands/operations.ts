import {
	type MoveHost,
	moveFactsIn,
} from "../../fleet/operations/moveFacts.ts";
import {
	describeUnknown,
	type OperationRecord,
	type UnknownRecord,
} from "../../fleet/operations/operationRecord.ts";
import {
	isOver,
	needsNoRunner,
	Operation,
	readOperations,
	requireRecord,
} from "../../fleet/operations/operations.ts";
import { isHeld } from "../../fleet/operations/signOfLife.ts";
import { continueOperation, undo } from "../../fleet/resumeOperation.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import { argument, command, DRY_RUN_FLAG, flag } from "../command.ts";
import { describeOperation } from "../describeOperation.ts";
import {
	ended,
	FLEET_CODES,
	isConfirmed,
	lossAccepter,
	MAX_PAUSE,
	orHalfWay,
	TAKEN_OVER_MEANING,
	withFleet,
	withTracedFleet,
} from "../fleetCommand.ts";
import { startGuard } from "../move/startGuard.ts";
import { table } from "../table.ts";
import { present } from "../values.ts";

const list = command({
	isWatched: true,
	summary: "Lists the operations on the fleet, and who runs them.",
	options: { all: flag("also those that are over") },
	exitCodes: {
		1: "an operation is half done and nobody runs it, or an error",
	},
	async run({ all }, context) {
		return withFleet(context, async ({ store }) => {
			const { records, unknown } = await readOperations(store);
			const isShown = (record: OperationRecord | UnknownRecord) =>
				all || !isOver(record);
			const withHolder = async <R extends OperationRecord | UnknownRecord>(
				record: R,
			) => ({
				...record,
				isHeld: !isOver(record) && (await isHeld(store, record.id)),
			});
			const [rows, others] = await Promise.all([
				Promise.all(
					records.filter(isShown).map(withoutAccounts).map(withHolder),
				),
				Promise.all(unknown.filter(isShown).map(withHolder)),
			]);
			const isLeft = [...rows, ...others].some(
				({ step, isHeld }) => !needsNoRunner(step ?? "") && !isHeld,
			);
			return {
				value: [...rows, ...others],
				lines: [
					...(others.length > 0 && rows.length === 0 ? [] : printed(rows)),
					...others.map(describeUnknown),
				],
				code: isLeft ? 1 : 0,
			};
		});
	},
});

function printed(
	rows: readonly (OperationRecord & { readonly isHeld: boolean })[],
): readonly string[] {
	if (rows.length === 0) return ["no operation is under way"];
	const isLeft = (row: (typeof rows)[number]) =>
		!needsNoRunner(row.step) && !row.isHeld;
	return [
		...table([
			["operation", "step", "from", "to", "by"],
			...rows.map((row) => [row.id, row.step, row.from, row.to, row.by]),
		]),
		// Not in the table, which may cut its cells.
		...rows
			.filter(isLeft)
			.map(({ id }) => `nobody runs it: corkboard operations resume ${id}`),
	];
}

/** The record of a move has URLs of hosts, with their accounts. */
function withoutAccounts(record: OperationRecord): OperationRecord {
	if (record.kind !== "move") return record;
	const move = moveFactsIn(record);
	const bare = ({ name, url, replica }: MoveHost): MoveHost => ({
		name,
		url: redactHostUrl(url),
		replica: replica === null ? null : redactHostUrl(replica),
	});
	return {
		...record,
		move: { ...move, from: bare(move.from), to: bare(move.to) },
	};
}

const resume = command({
	summary:
		"Continues an operation whose command ended before the operation did.",
	arguments: { id: argument("ID") },
	options: {
		maxPause: MAX_PAUSE,
		acceptLoss: flag(
			"for hosts promote --dead: give up what the replica has not received",
		),
	},
	details:
		"Anybody may run it, from any machine, 3 s after the command has ended. It continues where the command was, or undoes the operation if it cannot be continued.",
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
						await continueOperation(
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

const abort = command({
	summary:
		"Undoes an operation whose command has ended before it published a topology.",
	arguments: { id: argument("ID") },
	options: {
		leave: flag(
			"end it even if something can be neither undone nor completed; it says what",
		),
		dryRun: DRY_RUN_FLAG,
		yes: flag("with --leave: do not ask"),
	},
	details:
		"Once it has published there is no way back: operations resume completes it. Only what was done is undone: if the account could not fence a server, no fence is lifted there.",
	exitCodes: {
		1: "refused: it is over, or somebody still runs it",
		3: "it is half done: it has published, so only resume is left, or a server did not answer",
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

export const verbs = {
	list,
	resume,
	abort,
};
