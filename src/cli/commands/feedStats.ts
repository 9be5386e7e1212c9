import { CorkboardError } from "../../errors.ts";
import type { PoolShardStats } from "../../feed/pools/pools.ts";
import { formatNumber } from "../../util/format.ts";
import { command } from "../command.ts";
import { openFeedForCommand } from "../feedCommand.ts";
import { failuresAsJson, reportFailures } from "../queue/queueCommand.ts";
import { table } from "../table.ts";

export const { usage, run } = command({
	summary: "Counts what waits for home feeds on each shard of the pools.",
	details:
		"Rows and users are estimates on MySQL. Rows are pins in pools: waiting, taken or dropped.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run(_given, context) {
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
		return {
			value: {
				shards,
				pulledProducers: pulled?.length ?? null,
				failures: failuresAsJson(failures),
			},
			lines: [
				...table([
					["shard", "host", "rows", "users", "on disk", "a user"],
					...shards.map(({ shard, host, rows, users, bytes }) => [
						String(shard),
						host,
						formatNumber(rows),
						formatNumber(users),
						bytes === 0 ? "" : kilobytes(bytes),
						bytes === 0 || users === 0 ? "" : kilobytes(bytes / users),
					]),
				]),
				`producers that are pulled: ${pulled === null ? "not known" : formatNumber(pulled.length)}`,
			],
			...reportFailures(failures),
		};
	},
});

function kilobytes(bytes: number): string {
	return `${formatNumber(Math.round(bytes / 1_000))} kB`;
}
