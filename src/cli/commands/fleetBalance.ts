import { readConfig } from "../../config/config.ts";
import type { Load, MovePlan, PlannedMove } from "../../fleet/balance/load.ts";
import type { MeasuredFleet } from "../../fleet/balance/measureLoad.ts";
import { compact } from "../../util/compact.ts";
import { formatBytes, plural } from "../../util/format.ts";
import { command, option } from "../command.ts";
import { table } from "../table.ts";
import { duration, formatShards, integer } from "../values.ts";

const MEASURED_MS = 10_000;
const MOST_MOVES = 4;

export const { usage, run } = command({
	summary:
		"Says which few moves of shards would level primaries, or empty one.",
	options: {
		empty: option(
			"HOST",
			"plan all that this primary has onto the others instead",
		),
		moves: option(
			integer(1, 100),
			`without --empty: at most so many moves (default ${MOST_MOVES})`,
		),
		measure: option(
			duration(1_000, 3_600_000),
			"for how long writes are counted (default 10s)",
		),
	},
	details:
		"It changes nothing, and prints the commands to run. Sizes are those of tables with their indexes, as the servers estimate them; writes are rows, counted by performance_schema. All servers count as equally large.",
	exitCodes: { 1: "no other primary can take the shards; or an error" },
	async run({ empty, moves = MOST_MOVES, measure = MEASURED_MS }, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		// Loaded on demand: the help does not need them.
		const { readConfiguredTopology } = await import(
			"../../app/openTopology.ts"
		);
		const { measureLoad } = await import("../../fleet/balance/measureLoad.ts");
		const { planMoves } = await import("../../fleet/balance/planMoves.ts");
		const topology = await readConfiguredTopology(config);
		const measured = await measureLoad(topology, context.env, measure);
		const { plan, queues } = planMoves(measured, { empty, moves });
		const commands = plan.moves.map(commandOf);
		return {
			value: {
				hosts: [...plan.before].map(([host, before]) => ({
					host,
					before: rounded(before),
					after: rounded(plan.after.get(host) ?? before),
				})),
				moves: plan.moves.map(({ bytes, writes, ...move }, at) => ({
					...move,
					...rounded({ bytes, writes }),
					command: commands[at],
				})),
				queues,
			},
			lines: [
				...hostTable(plan),
				...(plan.moves.length === 0
					? [
							empty === undefined
								? "level enough: no few moves would make it better"
								: `${empty} has nothing to move`,
						]
					: commands.map((text, at) => line(text, plan.moves[at]))),
			],
			notes: notesOf(measured, queues),
		};
	},
});

/** What does it: `corkboard shards move lookups 0-255 --to db009a:3306`. */
function commandOf({ kind, range, to }: PlannedMove): string {
	const kinds = { db: "", mod: "lookups ", feed: "feeds ", pool: "pools " };
	return `corkboard shards move ${kinds[kind]}${formatShards(range)} --to ${to}`;
}

function line(text: string, move: PlannedMove | undefined): string {
	return move === undefined
		? text
		: `${text}   # ${formatBytes(move.bytes)}, ${describeWrites(move)} from ${move.from}`;
}

function describeWrites({ writes }: Load): string {
	return `${Math.round(writes)} rows/s`;
}

function hostTable({ before, after }: MovePlan): readonly string[] {
	return table([
		["host", "size", "then", "writes", "then"],
		...[...before].map(([host, load]) => {
			const then = after.get(host) ?? load;
			return [
				host,
				formatBytes(load.bytes),
				formatBytes(then.bytes),
				describeWrites(load),
				describeWrites(then),
			];
		}),
	]);
}

function notesOf(
	{ silent }: MeasuredFleet,
	queues: readonly number[],
): readonly string[] {
	return compact([
		silent.length > 0 &&
			`Writes are not known, so only sizes count: performance_schema is off, or does not count them (wait/io/table/sql/handler), on ${silent.join(", ")}.`,
		queues.length > 0 &&
			`${plural(queues.length, "queue shard")} (${queues.join(", ")}) stay: jobs are not moved. Drain them: corkboard queues drain.`,
	]);
}

function rounded({ bytes, writes }: Load): Load {
	return {
		bytes: Math.round(bytes),
		writes: Math.round(writes * 10) / 10,
	};
}
