import { readConfig } from "../config.ts";
import { printHostUrl } from "../topology/hostUrl.ts";
import { modShards, openShards, shardsOf } from "../topology/ranges.ts";
import type { HostRange } from "../topology/types.ts";
import { type Arguments, columns, type Usage } from "./arguments.ts";
import type { Io } from "./io.ts";
import { topologyOf } from "./topology.ts";

export const usage: Usage = {
	about: "Checks the shard map and says what is in it.",
	operands: [],
	options: {},
	more: "The map is the file that CORKBOARD_TOPOLOGY names, or the embedded one.",
};

export async function run(_: Arguments, io: Io): Promise<number> {
	const config = readConfig(io.env, { secret: "unneeded" });
	const topology = topologyOf(config);
	const { store } = config;
	io.out(
		`version ${topology.version} of ${store.kind === "topology" ? store.file : `the embedded map of ${store.folder}`}: good`,
	);
	io.out(
		`${shardsOf(topology.shards).length} shards, ${openShards(topology).length} of them open for new users; lookups on ${modShards(topology)}`,
	);
	io.out(
		columns([
			...topology.shards.map(
				(range) =>
					[
						`shards ${spelled(range)}`,
						`${printHostUrl(range.primary)}${range.open ? "  open" : ""}`,
					] as const,
			),
			...topology.lookups.map(
				(range) =>
					[`lookups ${spelled(range)}`, printHostUrl(range.primary)] as const,
			),
		]).join("\n"),
	);
	return 0;
}

function spelled({ range: [first, last] }: HostRange): string {
	return first === last ? `${first}` : `${first} to ${last}`;
}
