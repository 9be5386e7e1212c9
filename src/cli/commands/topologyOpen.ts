import { checkOpening, openRange } from "../../app/topologyOperations.ts";
import { parseList } from "../../util/settings.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	newest,
	openStoreForCommand,
	shardsIn,
	UNCHECKED_OPTION,
	weightIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Opens shards for new users; with --primary, new ones on new hosts.",
	operands: ["SHARDS"],
	options: {
		primary: {
			value: "URL",
			description: "host of shards that the topology does not have yet",
		},
		replica: { value: "URL", description: "its replica" },
		weight: {
			value: "W",
			description: "how many new users each shard gets beside one of weight 1",
		},
		without: {
			value: "MEMBERS",
			description: "processes that are known to be dead, separated by commas",
		},
		unchecked: UNCHECKED_OPTION,
		"dry-run": {
			description:
				"look at the hosts, say what would be done, and change nothing",
		},
		json: JSON_OPTION,
	},
	details: [
		"New shards get their tables, are published closed, and are opened when every process knows them: one that did not would answer null for a user that another has just created there.",
		"After an interruption, run it again: it goes on from what is there.",
	].join("\n"),
};

export async function run(
	{ operands: [text = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const range = shardsIn(text);
	const { primary, replica, without } = options;
	if (primary === undefined && replica !== undefined) {
		throw new UsageError("--replica needs --primary.");
	}
	const weight =
		options.weight === undefined ? undefined : weightIn(options.weight);
	const hosts =
		primary === undefined
			? null
			: { primary, ...(replica !== undefined && { replica }) };
	const isJson = options.json !== undefined;
	const isUnchecked = options.unchecked !== undefined;
	await using store = openStoreForCommand(context);
	if (options["dry-run"] !== undefined) {
		const { version } = await newest(store);
		const found: string[] = [];
		await checkOpening(store, {
			range,
			...{ hosts, isUnchecked },
			...(weight !== undefined && { weight }),
			report: (line) => found.push(line),
		});
		const steps =
			hosts === null
				? [`version ${version + 1}: shards ${text} open`]
				: [
						...found,
						`tables on ${text}`,
						`version ${version + 1}: shards ${text}, closed`,
						"every member serves it",
						`version ${version + 2}: shards ${text} open`,
					];
		context.stdout(
			isJson
				? JSON.stringify({ shards: range, dryRun: true, steps }, null, "\t")
				: steps.join("\n"),
		);
		return 0;
	}
	const steps: string[] = [];
	const topology = await openRange(store, {
		range,
		...{ hosts, isUnchecked },
		...(weight !== undefined && { weight }),
		...(without !== undefined && { without: parseList(without) }),
		report(line) {
			steps.push(line);
			if (!isJson) context.stdout(line);
		},
	});
	if (isJson) {
		const { version } = topology;
		const described = { shards: range, dryRun: false, version, steps };
		context.stdout(JSON.stringify(described, null, "\t"));
	}
	return 0;
}
