import { loadOwnModel } from "../../app/model.ts";
import { readUsage } from "../../app/usage.ts";
import { readConfig } from "../../config/config.ts";
import { outputFields } from "../../model/outputFields.ts";
import { periodOf, reportUsage, type Use } from "../../usage/usageReport.ts";
import {
	INCOMPLETE,
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { DAYS, parseDays } from "../days.ts";
import { incompleteLine, usageTable } from "../usageLines.ts";

export const usage: Usage = {
	summary:
		"Prints which fields of the schema clients used, how often, and when last.",
	operands: [],
	options: {
		unused: {
			value: DAYS,
			description:
				"print the fields that nobody used in so many days, such as 30d",
		},
		client: { value: "NAME", description: "count this client only" },
		json: JSON_OPTION,
	},
	details:
		"A field is used if it is in an operation that ran, whatever @skip left out. A field of an interface counts as used on each of its types. Servers store what they counted every 30 s.",
	exitCodes: { 3: INCOMPLETE },
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const config = readConfig(context.env, { secret: "unneeded" });
	const unusedDays =
		options.unused === undefined
			? null
			: parseDays(options.unused, config.usageDays);
	const days = await readUsage(config);
	const period = periodOf(days, unusedDays ?? config.usageDays, Date.now());
	const client = options.client ?? null;
	const { coordinates } = reportUsage(days, options.client);
	const fields = outputFields(loadOwnModel().schema);
	const rows = fields
		.map(({ coordinate, ofInterfaces, isDeprecated }) => {
			const uses = [coordinate, ...ofInterfaces].flatMap(
				(name) => coordinates.get(name) ?? [],
			);
			return {
				field: coordinate,
				isDeprecated,
				...(coordinates.get(coordinate) ?? NEVER),
				lastDay: lastOf(uses),
			};
		})
		.filter(({ requests, lastDay }) =>
			unusedDays === null
				? requests > 0
				: lastDay === null || lastDay < period.from,
		)
		.toSorted((a, b) => b.requests - a.requests);
	const isComplete = unusedDays === null || period.missingDays === 0;
	if (options.json !== undefined) {
		const shown = { ...period, client, unusedDays, fields: rows };
		context.stdout(JSON.stringify(shown, null, "\t"));
	} else {
		const names = rows.map(({ field, isDeprecated }) =>
			isDeprecated ? `${field} (deprecated)` : field,
		);
		context.stdout(usageTable(period, names, rows, unusedDays !== null));
	}
	if (!isComplete) context.stderr(incompleteLine(period));
	return isComplete ? 0 : 3;
}

const NEVER = { requests: 0, clients: [], documents: [] };

function lastOf(uses: readonly Use[]): string | null {
	return uses.reduce<string | null>(
		(last, { lastDay }) => (last === null || lastDay > last ? lastDay : last),
		null,
	);
}
