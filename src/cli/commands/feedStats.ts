import { CorkboardError } from "../../errors.ts";
import type { PoolShardStats } from "../../feed/pools.ts";
import { formatNumber } from "../../util/format.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { openFeedForCommand } from "../feedCommand.ts";
import { failuresAsJson, reportFailures } from "../queueCommand.ts";
import { table } from "../table.ts";

export const usage: Usage = {
	summary:
		"Counts what waits for home feeds on each shard of the pools, and the producers that are not pushed.",
	operands: [],
	options: { json: JSON_OPTION },
	details:
		"Rows and users are estimates on MySQL. Rows are pins in pools: waiting, taken or dropped.",
	exitCodes: { 1: "a shard does not answer, or an error" },
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using resources = new AsyncDisposableStack();
	const { parts } = await openFeedForCommand(context, resources);
	const { pools } = parts;
	const [stats, pulled] = await Promise.all([
		pools.stats(),
		pools.pulled().catch(() => null),
	]);
	const shards: PoolShardStats[] = [];
	const failures = new Map<number, CorkboardError>();
	for (const [at, one] of stats.entries()) {
		if (one instanceof CorkboardError)
			failures.set(pools.shards[at] ?? at, one);
		else shards.push(one);
	}
	if (options.json !== undefined) {
		// docs/commands.md describes this shape: scripts rely on it.
		const shown = {
			shards,
			pulledProducers: pulled?.length ?? null,
			failures: failuresAsJson(failures),
		};
		context.stdout(JSON.stringify(shown, null, "\t"));
	} else {
		const lines = table([
			["shard", "host", "rows", "users", "on disk", "a user"],
			...shards.map(({ shard, host, rows, users, bytes }) => [
				String(shard),
				host,
				formatNumber(rows),
				formatNumber(users),
				bytes === 0 ? "" : kilobytes(bytes),
				bytes === 0 || users === 0 ? "" : kilobytes(bytes / users),
			]),
		]);
		context.stdout(lines.join("\n"));
		context.stdout(
			pulled === null
				? "producers that are pulled: not known"
				: `producers that are pulled: ${formatNumber(pulled.length)}`,
		);
	}
	return reportFailures(context, failures);
}

function kilobytes(bytes: number): string {
	return `${formatNumber(Math.round(bytes / 1_000))} kB`;
}
