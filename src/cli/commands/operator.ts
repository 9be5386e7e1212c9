import { setTimeout as sleep } from "node:timers/promises";
import { isHeld, isOver, listOperations } from "../../ops/fleet/operations.ts";
import { resumePromotion } from "../../ops/fleet/promote.ts";
import { INTERRUPTED, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { describePromotion, withFleet } from "../fleetCommand.ts";

export const usage: Usage = {
	summary:
		"Watches operations on the fleet, and goes on with those whose command has ended half-way.",
	operands: [],
	options: {},
	details:
		"Run it on any machine with the operator's account. It begins nothing by itself.",
	exitCodes: INTERRUPTED,
};

/** Between two looks. Milliseconds. */
const LOOK_MS = 1_000;

export async function run(
	_given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const signal = context.interruptSignal();
	return withFleet(context, async (fleet) => {
		context.stderr("watching operations");
		while (!signal.aborted) {
			try {
				for (const record of await listOperations(fleet.store)) {
					if (isOver(record) || (await isHeld(fleet.store, record.id)))
						continue;
					context.stdout(`taking over ${record.id} at ${record.step}`);
					const result = await resumePromotion(fleet, record.id);
					context.stdout(describePromotion(result).join("\n"));
				}
			} catch (thrown) {
				// The store or a server is away, or somebody else was faster: the next look shows it.
				context.stderr((thrown as Error).message);
			}
			await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
		}
		return signal.reason === "SIGTERM" ? 143 : 130;
	});
}
