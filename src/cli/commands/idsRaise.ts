import { requireCurrent } from "../../fleet/map/publish.ts";
import { type RaisedIds, raiseIds } from "../../fleet/operations/raiseIds.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { argument, command, flag, option } from "../command.ts";
import { withFleet } from "../fleetCommand.ts";
import { integer, SHARD_RANGES } from "../values.ts";

/** More than one table of a shard gets between two backups. 36 bits hold 6,871 such margins. */
const MARGIN = 10_000_000;
const MAX_MARGIN = 1_000_000_000;
const SHOWN_TABLES = 10;

export const { usage, run } = command({
	summary:
		"Raises the local ids of a restored host past those given out since.",
	arguments: { host: argument("HOST") },
	options: {
		by: option(
			integer(1, MAX_MARGIN),
			`how many local ids each table skips (default ${MARGIN}): more than one got since the backup`,
			MARGIN,
		),
		shards: option(
			SHARD_RANGES,
			"only the tables of these shards, such as 0-255,512",
		),
		dryRun: flag("only say what would be done"),
	},
	details:
		"HOST is host:port of a MySQL server that takes writes; the topology need not name it yet. It is asked with the account of CORKBOARD_ADMIN_FILE, or that of the topology. Run before any process writes there. If it is interrupted, run it again: tables that were raised are raised once more, which takes nothing but ids.",
	exitCodes: {
		1: "refused, or an error: some tables may be raised, and it can be run again",
	},
	async run({ host, by, shards = null, dryRun }, context) {
		return withFleet(context, async ({ store, environment }) => {
			const { topology } = await requireCurrent(store);
			const raised = await raiseIds({
				...{ topology, environment, host },
				...{ shards, by, isDryRun: dryRun },
			});
			return {
				value: { ...raised, dryRun },
				lines: describe(raised, dryRun),
			};
		});
	},
});

function describe(
	{ host, by, tables, notes }: RaisedIds,
	isDryRun: boolean,
): readonly string[] {
	const more = tables.length - SHOWN_TABLES;
	return [
		`${host}: the local ids of ${plural(tables.length, "table")} ${isDryRun ? "would be" : "are"} raised by ${formatNumber(by)}`,
		...tables
			.slice(0, SHOWN_TABLES)
			.map(
				({ table, before, after }) =>
					`  ${table}: the next ${isDryRun ? "would be" : "is"} ${formatNumber(after)}, ${isDryRun ? "is" : "was"} ${formatNumber(before)}`,
			),
		...(more > 0 ? [`  and ${more} more`] : []),
		...notes,
	];
}
