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
import { columns, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Checks the topology and prints it, or checks whether NEW may follow OLD.",
	operands: [],
	optionalOperands: ["OLD", "NEW"],
	options: {},
	details:
		"Without arguments it checks the file that CORKBOARD_TOPOLOGY names, or the embedded topology. With OLD and NEW it checks NEW as servers that run on OLD do.",
};

export async function run(
	{ operands }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [oldFile, newFile] = operands;
	if (oldFile !== undefined && newFile !== undefined) {
		const old = readTopology(oldFile);
		const next = readTopology(newFile);
		prefixErrorsWithPath(newFile, () => checkTopologyChange(old, next));
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
	printTopology(
		readConfiguredTopology(config),
		store.kind === "topology"
			? store.file
			: `the embedded topology of ${store.folder}`,
		context,
	);
	return 0;
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
