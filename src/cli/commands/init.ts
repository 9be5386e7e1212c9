import { readConfig } from "../../config.ts";
import type { Arguments, Usage } from "../arguments.ts";
import type { Io } from "../io.ts";
import { showProgress } from "../progress.ts";

export const usage: Usage = {
	about: "Makes the tables of every shard; those that are there stay.",
	operands: [],
	options: {},
};

export async function run(_: Arguments, io: Io): Promise<number> {
	await using corkboard = await io.open(readConfig(io.env), "own");
	const { shards, modShards } = corkboard.storage;
	const progress = showProgress(io);
	await corkboard.storage.init((done, total) =>
		progress.show(`${done} of ${total} shards and mod shards`),
	);
	progress.end();
	io.out(
		`${shards.length} shards and ${modShards} mod shards have all their tables`,
	);
	return 0;
}
