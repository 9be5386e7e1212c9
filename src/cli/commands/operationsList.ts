import { isOver, listOperations } from "../../ops/fleet/operations.ts";
import { isHeld } from "../../ops/fleet/signOfLife.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { withFleet } from "../fleetCommand.ts";
import { table } from "../table.ts";

export const usage: Usage = {
	summary: "Lists what was and is done to the fleet, and who does it.",
	operands: [],
	options: {
		all: { description: "also those that are over" },
		json: JSON_OPTION,
	},
	exitCodes: {
		1: "an operation stands half-way and nobody runs it, or an error",
	},
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	return withFleet(context, async ({ store }) => {
		const known = await listOperations(store);
		const some = known.filter(
			(record) => options.all !== undefined || !isOver(record),
		);
		const rows = await Promise.all(
			some.map(async (record) => ({
				...record,
				isHeld: !isOver(record) && (await isHeld(store, record.id)),
			})),
		);
		if (options.json !== undefined) {
			context.stdout(JSON.stringify(rows, null, "\t"));
		} else if (rows.length === 0) {
			context.stdout("no operation is under way");
		} else {
			context.stdout(
				table([
					["operation", "step", "from", "to", "by", ""],
					...rows.map((row) => [
						row.id,
						row.step,
						row.from,
						row.to,
						row.by,
						isOver(row) || row.isHeld
							? ""
							: `nobody runs it: operations resume ${row.id}`,
					]),
				]).join("\n"),
			);
		}
		return rows.some((row) => !isOver(row) && !row.isHeld) ? 1 : 0;
	});
}
