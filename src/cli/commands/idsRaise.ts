import { CorkboardError } from "../../errors.ts";
import { type RaisedIds, raiseIds } from "../../ops/fleet/raiseIds.ts";
import { readCurrent } from "../../topology/history.ts";
import { parseShardRanges } from "../../topology/ranges.ts";
import { formatNumber, plural } from "../../util/format.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { withFleet } from "../fleetCommand.ts";

/** More than one table of a shard gets between two backups. 36 bits hold 6,871 such margins. */
const MARGIN = 10_000_000;
const MAX_MARGIN = 1_000_000_000;
const SHOWN_TABLES = 10;

export const usage: Usage = {
	summary:
		"Raises the local ids of a restored host past those given out since.",
	operands: ["HOST"],
	options: {
		by: {
			value: "N",
			description:
				"how many local ids each table skips (10000000): more than one got since the backup",
		},
		shards: {
			value: "RANGES",
			description: "only the tables of these shards, such as 0-255,512",
		},
		"dry-run": { description: "only say what would be done" },
		json: JSON_OPTION,
	},
	details:
		"HOST is host:port of a MySQL server that takes writes; the topology need not name it yet. It is asked with the account of CORKBOARD_ADMIN_FILE, or that of the topology. Run before any process writes there. If it is interrupted, run it again: tables that were raised are raised once more, which takes nothing but ids.",
	exitCodes: {
		1: "refused, or an error: some tables may be raised, and it can be run again",
	},
};

export async function run(
	{ operands: [host = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const by = marginOf(options.by);
	const shards =
		options.shards === undefined ? null : parseShardRanges(options.shards);
	if (options.shards !== undefined && shards === null) {
		throw new UsageError(
			`--shards must be shards and ranges of them, such as 0-255,512, got ${options.shards}.`,
		);
	}
	const isDryRun = options["dry-run"] !== undefined;
	return withFleet(context, async ({ store, environment }) => {
		const current = await readCurrent(store);
		if (current === null) {
			throw new CorkboardError("BAD_TOPOLOGY", "No topology is stored yet.");
		}
		const { topology } = current;
		const raised = await raiseIds({
			...{ topology, environment, host },
			...{ shards, by, isDryRun },
		});
		context.stdout(
			options.json === undefined
				? describe(raised, isDryRun).join("\n")
				: JSON.stringify({ ...raised, dryRun: isDryRun }, null, "\t"),
		);
		return 0;
	});
}

function marginOf(text: string | undefined): number {
	if (text === undefined) return MARGIN;
	const by = /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
	if (by >= 1 && by <= MAX_MARGIN) return by;
	throw new UsageError(`--by must be from 1 to ${MAX_MARGIN}, got ${text}.`);
}

function describe(
	{ host, by, tables }: RaisedIds,
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
	];
}
