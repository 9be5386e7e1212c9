import { readConfig } from "../../config/config.ts";
import { outputFields } from "../../model/schema/outputFields.ts";
import type { Use } from "../../usage/usageReport.ts";
import { command } from "../command.ts";
import {
	countUsage,
	USAGE_EXIT_CODES,
	usageOptions,
	usageResult,
} from "../usage/usageCommand.ts";

export const { usage, run } = command({
	summary:
		"Prints which fields of the schema clients used, how often, and when last.",
	options: usageOptions(
		"print the fields that nobody used in so many days, such as 30d",
	),
	details:
		"A field is used if it is in an operation that ran, whatever @skip left out. A field of an interface counts as used on each of its types. Servers store what they counted every 30 s.",
	exitCodes: USAGE_EXIT_CODES,
	async run(given, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		const counted = await countUsage(given, config);
		const { report, period, unusedDays } = counted;
		const { coordinates } = report;
		const rows = outputFields((await context.app()).schema)
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
			);
		return usageResult(counted, {
			what: "fields",
			rows,
			nameOf: ({ field, isDeprecated }) =>
				isDeprecated ? `${field} (deprecated)` : field,
		});
	},
});

const NEVER = { requests: 0, clients: [], documents: [] };

function lastOf(uses: readonly Use[]): string | null {
	return uses.reduce<string | null>(
		(last, { lastDay }) => (last === null || lastDay > last ? lastDay : last),
		null,
	);
}
