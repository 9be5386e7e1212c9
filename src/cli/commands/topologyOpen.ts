import { checkOpening, openRange } from "../../fleet/topologyOperations.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { newest, openStoreForCommand, UNCHECKED } from "../topologyCommand.ts";
import { formatShards, list, present, SHARDS, weight } from "../values.ts";

export const { usage, run } = command({
	summary: "Opens shards for new users; with --primary, new ones on new hosts.",
	arguments: { shards: argument(SHARDS) },
	options: {
		primary: option(
			"URL",
			"host of shards that the topology does not have yet",
		),
		replica: option("URL", "its replica"),
		weight: option(
			weight("W"),
			"how many new users each shard gets, compared with weight 1",
		),
		without: option(
			list("MEMBERS"),
			"processes that are known to be dead, separated by commas",
		),
		unchecked: UNCHECKED,
		dryRun: flag(
			"look at the hosts, say what would be done, and change nothing",
		),
	},
	details: [
		"New shards get their tables, are published closed, and are opened when every process knows them: one that did not would answer null for a user that another has just created there.",
		"After an interruption, run it again: it goes on from what is there.",
	].join("\n"),
	async run(given, context) {
		const { shards, primary, replica, weight, without, json } = given;
		if (primary === undefined && replica !== undefined) {
			throw new UsageError("--replica needs --primary.");
		}
		const hosts =
			primary === undefined ? null : { primary, ...present({ replica }) };
		await using store = openStoreForCommand(context);
		const steps: string[] = [];
		const { model } = await context.app();
		const opening = {
			model,
			range: shards,
			...{ hosts, isUnchecked: given.unchecked },
			...present({ weight }),
		};
		if (given.dryRun) {
			const { version } = await newest(store);
			await checkOpening(store, {
				...opening,
				report: (line) => steps.push(line),
			});
			const planned = plan(shards, version, hosts === null ? null : steps);
			return {
				value: { shards, dryRun: true, steps: planned },
				lines: planned,
			};
		}
		const { version } = await openRange(store, {
			...opening,
			...present({ without }),
			report(line) {
				steps.push(line);
				if (!json) context.stdout(line);
			},
		});
		return { value: { shards, dryRun: false, version, steps }, lines: [] };
	},
});

function plan(
	shards: readonly [number, number],
	version: number,
	/** What was found of new hosts; null where the shards have theirs. */
	found: readonly string[] | null,
): readonly string[] {
	const text = formatShards(shards);
	if (found === null) return [`version ${version + 1}: shards ${text} open`];
	return [
		...found,
		`tables on ${text}`,
		`version ${version + 1}: shards ${text}, closed`,
		"every member serves it",
		`version ${version + 2}: shards ${text} open`,
	];
}
