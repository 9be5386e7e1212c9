import { readConfig } from "../config.ts";
import { shardsOf } from "../topology/ranges.ts";
import type { Arguments, Usage } from "./arguments.ts";
import type { Io } from "./io.ts";
import { showProgress } from "./progress.ts";
import { topologyOf } from "./topology.ts";

export const usage: Usage = {
	about: "Makes the tables of every shard; those that are there stay.",
	operands: [],
	options: {},
};

export async function run(_: Arguments, io: Io): Promise<number> {
	const config = readConfig(io.env);
	await using graph = await io.open(config, "write");
	const progress = showProgress(io, "shards");
	await graph.init((done, total) => progress.show(done, done / total));
	progress.end();
	const { shards, lookups } = topologyOf(config);
	io.out(
		`${shardsOf(shards).length} shards and ${shardsOf(lookups).length} mod shards have all their tables`,
	);
	return 0;
}
