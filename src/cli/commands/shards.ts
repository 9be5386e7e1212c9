import { readConfig } from "../../config/config.ts";
import type { Load, MovePlan, PlannedMove } from "../../fleet/balance/load.ts";
import type { MeasuredFleet } from "../../fleet/balance/measureLoad.ts";
import { placeShards } from "../../fleet/map/edits.ts";
import { existing } from "../../fleet/map/publish.ts";
import { planMove } from "../../fleet/move/planMove.ts";
import { startMove } from "../../fleet/move/startMove.ts";
import { checkOpening, openRange } from "../../fleet/topologyOperations.ts";
import { compact } from "../../util/compact.ts";
import { formatBytes, plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import {
	argument,
	command,
	flag,
	many,
	option,
	required,
	YES,
} from "../command.ts";
import {
	FLEET_CODES,
	operateAsChecked,
	withTracedFleet,
} from "../fleetCommand.ts";
import { rangesIn, readMap } from "../mapLists.ts";
import {
	MOVED,
	movedIn,
	planLines,
	planValue,
	WISHES,
	wishesOf,
} from "../move/moveCommand.ts";
import { runGuarded } from "../move/runGuarded.ts";
import { table } from "../table.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	newest,
	openStoreForCommand,
	publishForCommand,
	UNCHECKED,
} from "../topologyCommand.ts";
import {
	duration,
	formatShards,
	integer,
	list,
	present,
	SHARDS,
	weight,
} from "../values.ts";

const open = command({
	summary: "Opens shards for new users; with --primary, new ones on new hosts.",
	arguments: { shards: argument(SHARDS) },
	options: {
		primary: option(
			"URL",
			"the host of these shards, if the topology does not have them yet",
		),
		replica: option("URL", "its replica"),
		weight: option(
			weight("W"),
			"how many new users each shard gets, compared with weight 1",
		),
		without: option(
			list("MEMBERS"),
			"processes that are known to be dead, separated by commas",
		),
		unchecked: UNCHECKED,
		dryRun: flag(
			"look at the hosts, say what would be done, and change nothing",
		),
	},
	details: [
		"New shards get their tables and are published closed. They are opened when every process knows them. Otherwise a process that does not know them would answer null for a user that another one has just created there.",
		"After an interruption, run it again: it continues with what is there.",
	].join("\n"),
	async run(given, context) {
		const { shards, primary, replica, weight, without, json } = given;
		if (primary === undefined && replica !== undefined) {
			throw new UsageError("--replica needs --primary.");
		}
		const hosts =
			primary === undefined ? null : { primary, ...present({ replica }) };
		await using store = openStoreForCommand(context);
		const steps: string[] = [];
		const { model } = await context.app();
		const opening = {
			model,
			range: shards,
			hosts,
			isUnchecked: given.unchecked,
			...present({ weight }),
		};
		if (given.dryRun) {
			const { version } = await newest(store);
			await checkOpening(store, {
				...opening,
				report: (line) => steps.push(line),
			});
			const planned = plan(shards, version, hosts === null ? null : steps);
			return {
				value: { shards, dryRun: true, steps: planned },
				lines: planned,
			};
		}
		const { version } = await openRange(store, {
			...opening,
			...present({ without }),
			report(line) {
				steps.push(line);
				if (!json) context.stdout(line);
			},
		});
		return { value: { shards, dryRun: false, version, steps }, lines: [] };
	},
});

function plan(
	shards: readonly [number, number],
	version: number,
	/** What was found of new hosts; null if the shards have theirs. */
	found: readonly string[] | null,
): readonly string[] {
	const text = formatShards(shards);
	if (found === null) return [`version ${version + 1}: shards ${text} open`];
	return [
		...found,
		`tables on ${text}`,
		`version ${version + 1}: shards ${text}, closed`,
		"every member serves it",
		`version ${version + 2}: shards ${text} open`,
	];
}

const close = command({
	summary: "Closes shards: they serve all they have, and get no new users.",
	arguments: { shards: argument(SHARDS) },
	options: CHANGE_OPTIONS,
	exitCodes: CHANGE_EXIT_CODES,
	async run({ shards, ...given }, context) {
		return publishForCommand(context, given, {
			edit: existing((now) => placeShards(now, shards, { open: false })),
			why: `close ${formatShards(shards)}`,
		});
	},
});

const weigh = command({
	summary:
		"Sets how many new users each of these shards gets, compared with weight 1.",
	arguments: { shards: argument(SHARDS), weight: argument(weight("WEIGHT")) },
	options: { unchecked: UNCHECKED, ...CHANGE_OPTIONS },
	exitCodes: CHANGE_EXIT_CODES,
	async run({ shards, weight, ...given }, context) {
		return publishForCommand(context, given, {
			edit: existing((now) => placeShards(now, shards, { weight })),
			why: `weigh ${formatShards(shards)} ${weight}`,
		});
	},
});

const MEASURED_MS = 10_000;
const MOST_MOVES = 4;

const balance = command({
	summary:
		"Suggests the few moves of shards that level the primaries, or empty one.",
	options: {
		empty: option(
			"HOST",
			"plan how to move everything from this primary to the others instead",
		),
		limit: option(
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
	async run({ empty, limit = MOST_MOVES, measure = MEASURED_MS }, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		// Loaded on demand: the help does not need them.
		const { readConfiguredTopology } = await import(
			"../../app/openTopology.ts"
		);
		const { measureLoad } = await import("../../fleet/balance/measureLoad.ts");
		const { planMoves } = await import("../../fleet/balance/planMoves.ts");
		const topology = await readConfiguredTopology(config);
		const measured = await measureLoad(topology, context.env, measure);
		const { plan, queues } = planMoves(measured, { empty, moves: limit });
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

const move = command({
	summary: "Moves shards from one MySQL primary to another, while both serve.",
	arguments: { shards: many(MOVED) },
	options: {
		to: required(
			"PRIMARY",
			"a primary of the topology, or host:port or the URL of a new one",
		),
		replica: option("REPLICA", "of a new primary: its replica"),
		waveSize: option(
			integer(1, 256, "N"),
			"how many shards switch together, also on the way back (default 4)",
			4,
		),
		parallel: option(
			integer(1, 16, "N"),
			"how many tables are copied and compared at once (default 2)",
		),
		...WISHES,
		dryRun: flag("print the plan and everything that would refuse it"),
		yes: YES,
	},
	details:
		"The verbs of moves are for a move that has begun: show, pause, resume, set, cut-over, reverse, complete and cancel. SHARDS is a range of shards, or lookups, feeds or pools and a range of them. It ends when all waves have switched. The former copies stay on the old primary under other names. Then moves complete drops them, and moves reverse goes back. If it is interrupted or killed, moves resume continues it.",
	exitCodes: FLEET_CODES,
	async run({ shards, to, replica, waveSize, parallel, ...given }, context) {
		const moved = movedIn(shards);
		const wishes = wishesOf(given);
		return withTracedFleet(context, async (fleet) => {
			const plan = await planMove(fleet, {
				...moved,
				to,
				replica,
				wave: waveSize,
				rate: given.rate,
			});
			const signal = context.interruptSignal();
			return await operateAsChecked(
				context,
				fleet,
				given,
				{
					value: planValue(plan),
					faults: plan.faults.map(({ check, fault }) => `${check}: ${fault}`),
					lines: planLines(plan),
					sound: ["it can be moved"],
					question: `${planLines(plan)[0]}. Move them?`,
				},
				(onStep) =>
					runGuarded(
						context,
						{ ...fleet, signal, onStep, ...present({ parallel }) },
						null,
						(options) => startMove(options, plan.found, [], wishes),
					),
			);
		});
	},
});

const listShards = command({
	isWatched: true,
	summary:
		"Lists the shards with their primaries and replicas: those of users, lookups, feeds, queues and pools.",
	details: "It is what the map says: no host is asked. status asks them.",
	async run(_given, context) {
		const ranges = rangesIn(await readMap(context));
		return {
			value: ranges,
			lines: table([
				["shards", "of", "primary", "replica", "state", "weight"],
				...ranges.map(({ list, range, primary, replica, open, weight }) => [
					formatShards(range),
					list,
					primary,
					replica ?? "",
					open === null
						? ""
						: open
							? "open"
							: list === "queues"
								? "drained"
								: "closed",
					weight === null || weight === 1 ? "" : String(weight),
				]),
			]),
		};
	},
});

export const verbs = {
	list: listShards,
	open,
	close,
	weigh,
	balance,
	move,
};
