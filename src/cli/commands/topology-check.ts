import { topologyOf } from "../../app/topology.ts";
import { readConfig } from "../../config.ts";
import { checkChange } from "../../topology/check.ts";
import { inFile, readTopology } from "../../topology/file.ts";
import { printHostUrl } from "../../topology/hostUrl.ts";
import { modShards, openShards, shardsOf } from "../../topology/ranges.ts";
import type { HostRange, ShardRange, Topology } from "../../topology/types.ts";
import { type Arguments, columns, type Usage } from "../arguments.ts";
import type { Io } from "../io.ts";

export const usage: Usage = {
	about:
		"Checks the shard map and says what is in it; of two, also whether the second may follow the first.",
	operands: [],
	optional: ["OLD", "NEW"],
	options: {},
	more: "The map is the file that CORKBOARD_TOPOLOGY names, or the embedded one. With OLD and NEW it is NEW, which is refused where a fleet that runs on OLD would refuse it.",
};

export async function run({ operands }: Arguments, io: Io): Promise<number> {
	const [oldFile, newFile] = operands;
	if (oldFile !== undefined && newFile !== undefined) {
		const old = readTopology(oldFile);
		const next = readTopology(newFile);
		inFile(newFile, () => checkChange(old, next));
		say(next, newFile, io);
		io.out(
			old.version === next.version
				? `the same as ${oldFile}`
				: `may follow version ${old.version} of ${oldFile}`,
		);
		return 0;
	}
	const config = readConfig(io.env, { secret: "unneeded" });
	const { store } = config;
	say(
		topologyOf(config),
		store.kind === "topology"
			? store.file
			: `the embedded map of ${store.folder}`,
		io,
	);
	return 0;
}

function say(topology: Topology, source: string, io: Io): void {
	const { version, shards, lookups } = topology;
	io.out(`version ${version} of ${source}: good`);
	io.out(
		`${shardsOf(shards).length} shards, ${openShards(topology).length} of them open for new users; lookups on ${modShards(topology)}`,
	);
	io.out(
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
		.map(printHostUrl)
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
