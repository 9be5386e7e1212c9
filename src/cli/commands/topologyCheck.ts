import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import { checkTopologyChange } from "../../topology/check.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import {
	prefixErrorsWithPath,
	readTopology,
} from "../../topology/parseTopology.ts";
import { modShards, openShards, shardsOf } from "../../topology/ranges.ts";
import type { HostRange, ShardRange, Topology } from "../../topology/types.ts";
import {
	columns,
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Checks the topology and prints it, or checks whether NEW may follow OLD.",
	operands: [],
	optionalOperands: ["OLD", "NEW"],
	options: { json: JSON_OPTION },
	details:
		"Without arguments it checks the file that CORKBOARD_TOPOLOGY names, or the embedded topology. With OLD and NEW it checks NEW as servers that run on OLD do.",
};

export async function run(
	{ operands, options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [oldFile, newFile] = operands;
	if (oldFile !== undefined && newFile !== undefined) {
		const old = readTopology(oldFile);
		const next = readTopology(newFile);
		prefixErrorsWithPath(newFile, () => checkTopologyChange(old, next));
		if (options.json !== undefined) {
			const follows = {
				file: oldFile,
				version: old.version,
				isSame: old.version === next.version,
			};
			context.stdout(describeTopology(next, newFile, follows));
			return 0;
		}
		printTopology(next, newFile, context);
		context.stdout(
			old.version === next.version
				? `the same as ${oldFile}`
				: `may follow version ${old.version} of ${oldFile}`,
		);
		return 0;
	}
	const config = readConfig(context.env, { secret: "unneeded" });
	const { store } = config;
	const topology = readConfiguredTopology(config);
	if (options.json !== undefined) {
		const file = store.kind === "topology" ? store.file : null;
		context.stdout(describeTopology(topology, file, null));
		return 0;
	}
	printTopology(
		topology,
		store.kind === "topology"
			? store.file
			: `the embedded topology of ${store.folder}`,
		context,
	);
	return 0;
}

/** As JSON, without passwords. */
function describeTopology(
	topology: Topology,
	/** Null: the embedded one. */
	file: string | null,
	/** What it may follow; null where it was not compared. */
	follows: object | null,
): string {
	const range = ({ range: [first, last], primary, replica }: HostRange) => ({
		first,
		last,
		primary: redactHostUrl(primary),
		replica: replica === undefined ? null : redactHostUrl(replica),
	});
	const described = {
		version: topology.version,
		file,
		shards: topology.shards.map((each) => ({
			...range(each),
			open: each.open,
			generation: each.generation ?? 0,
		})),
		lookups: topology.lookups.map(range),
		follows,
	};
	return JSON.stringify(described, null, "\t");
}

function printTopology(
	topology: Topology,
	source: string,
	context: CommandContext,
): void {
	const { version, shards, lookups } = topology;
	context.stdout(`version ${version} of ${source}: good`);
	context.stdout(
		`${shardsOf(shards).length} shards, ${openShards(topology).length} open for new users; lookups on ${modShards(topology)} mod shards`,
	);
	context.stdout(
		columns([
			...shards.map((range): [string, string] => [
				`shards ${formatRange(range)}`,
				[hosts(range), ...attributesOf(range)].join("  "),
			]),
			...lookups.map((range): [string, string] => [
				`lookups ${formatRange(range)}`,
				hosts(range),
			]),
		]).join("\n"),
	);
}

function hosts({ primary, replica }: HostRange): string {
	return [primary, ...(replica === undefined ? [] : [replica])]
		.map(redactHostUrl)
		.join(", replica ");
}

function attributesOf({ open, generation = 0 }: ShardRange): readonly string[] {
	return [
		...(open ? ["open"] : []),
		...(generation > 0 ? [`generation ${generation}`] : []),
	];
}

function formatRange({ range: [first, last] }: HostRange): string {
	return first === last ? `${first}` : `${first} to ${last}`;
}
