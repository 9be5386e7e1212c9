import { planMove } from "../../fleet/move/planMove.ts";
import { startMove } from "../../fleet/move/startMove.ts";
import { command, flag, many, option, required, YES } from "../command.ts";
import {
	FLEET_CODES,
	operateAsChecked,
	withTracedFleet,
} from "../fleetCommand.ts";
import {
	MOVED,
	movedIn,
	planLines,
	planValue,
	WISHES,
	wishesOf,
} from "../move/moveCommand.ts";
import { runGuarded } from "../move/runGuarded.ts";
import { integer, present } from "../values.ts";

export const { usage, run } = command({
	summary: "Moves shards from one MySQL primary to another, while both serve.",
	arguments: { shards: many(MOVED) },
	options: {
		to: required(
			"PRIMARY",
			"a primary of the topology, or host:port or the URL of a new one",
		),
		replica: option("REPLICA", "of a new primary: its replica"),
		wave: option(
			integer(1, 256, "N"),
			"how many shards go over together, and back (default 4)",
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
		"Of one that has begun: moves show, pause, resume, set, cut-over, reverse, complete and cancel. SHARDS is a range of shards, or lookups, feeds or pools and a range of them. It ends when all waves are over; the former copies stay on the old primary under other names. Then moves complete drops them, and moves reverse goes back. Interrupted or killed, it is resumed by moves resume.",
	exitCodes: FLEET_CODES,
	async run({ shards, to, replica, wave, parallel, ...given }, context) {
		const moved = movedIn(shards);
		const wishes = wishesOf(given);
		return withTracedFleet(context, async (fleet) => {
			const plan = await planMove(fleet, {
				...{ ...moved, to, replica, wave },
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
