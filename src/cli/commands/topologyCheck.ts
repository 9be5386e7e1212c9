import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config.ts";
import { checkTopologyChange } from "../../topology/check.ts";
import { prefixErrorsWithPath, readTopology } from "../../topology/file.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import { modShards, openShards, shardsOf } from "../../topology/ranges.ts";
import type { HostRange, ShardRange, Topology } from "../../topology/types.ts";
import { columns, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Checks the shard map and says what is in it; of two, also whether the second may follow the first.",
	operands: [],
	optionalOperands: ["OLD", "NEW"],
	options: {},
	details:
		"The map is the file that CORKBOARD_TOPOLOGY names, or the embedded one. With OLD and NEW it is NEW, which is refused where a fleet that runs on OLD would refuse it.",
};

export async function run(
	{ operands }: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const [oldFile, newFile] = operands;
	if (oldFile !== undefined && newFile !== undefined) {
		const old = readTopology(oldFile);
		const next = readTopology(newFile);
		prefixErrorsWithPath(newFile, () => checkTopologyChange(old, next));
		say(next, newFile, io);
		io.stdout(
			old.version === next.version
				? `the same as ${oldFile}`
				: `may follow version ${old.version} of ${oldFile}`,
		);
		return 0;
	}
	const config = readConfig(io.env, { secret: "unneeded" });
	const { store } = config;
	say(
		readConfiguredTopology(config),
		store.kind === "topology"
			? store.file
			: `the embedded map of ${store.folder}`,
		io,
	);
	return 0;
}

function say(topology: Topology, source: string, io: CommandContext): void {
	const { version, shards, lookups } = topology;
	io.stdout(`version ${version} of ${source}: good`);
	io.stdout(
		`${shardsOf(shards).length} shards, ${openShards(topology).length} of them open for new users; lookups on ${modShards(topology)}`,
	);
	io.stdout(
		columns([
			...shards.map((range): [string, string] => [
				`shards ${spelled(range)}`,
				[hosts(range), ...facts(range)].join("  "),
			]),
			...lookups.map((range): [string, string] => [
				`lookups ${spelled(range)}`,
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

function facts({ open, generation = 0 }: ShardRange): readonly string[] {
	return [
		...(open ? ["open"] : []),
		...(generation > 0 ? [`generation ${generation}`] : []),
	];
}

function spelled({ range: [first, last] }: HostRange): string {
	return first === last ? `${first}` : `${first} to ${last}`;
}
