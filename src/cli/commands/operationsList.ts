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
	isSettledStep,
	readOperations,
} from "../../fleet/operations/operations.ts";
import { isHeld } from "../../fleet/operations/signOfLife.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import { command, flag } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";
import { table } from "../table.ts";

export const { usage, run } = command({
	summary: "Lists what is done to the fleet, and who does it.",
	options: { all: flag("also those that are over") },
	exitCodes: {
		1: "an operation stands half-way and nobody runs it, or an error",
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
				({ step, isHeld }) => !isSettledStep(step ?? "") && !isHeld,
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
	return table([
		["operation", "step", "from", "to", "by", ""],
		...rows.map((row) => [
			...[row.id, row.step, row.from, row.to, row.by],
			isSettledStep(row.step) || row.isHeld
				? ""
				: `nobody runs it: operations resume ${row.id}`,
		]),
	]);
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
