import { setTimeout as sleep } from "node:timers/promises";
import { guardMove } from "../../fleet/move/guardMove.ts";
import { fenceReturned } from "../../fleet/operations/fenceReturned.ts";
import { describeUnknown } from "../../fleet/operations/operationRecord.ts";
import {
	isOver,
	needsNoRunner,
	Operation,
	readOperations,
} from "../../fleet/operations/operations.ts";
import { isProcess } from "../../fleet/operations/signOfLife.ts";
import { continueOperation } from "../../fleet/resumeOperation.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import { command, option } from "../command.ts";
import { describeOperation } from "../describeOperation.ts";
import { withTracedFleet } from "../fleetCommand.ts";
import { startGuard } from "../move/startGuard.ts";
import { integer } from "../values.ts";

/** Between two looks. Milliseconds. */
const LOOK_MS = 1_000;

export const { usage, run } = command({
	summary:
		"Continues operations whose command ended before they did, and fences dead primaries that come back.",
	options: {
		guard: option(
			"ID",
			"only lift the fences of this move if the command that started this process ends; a move starts it so",
		),
		runner: option(
			integer(1, Number.MAX_SAFE_INTEGER, "PID"),
			"of --guard: that command's process",
		),
	},
	details:
		"Run it on any machine with the operator's account. It begins nothing by itself.",
	exitCodes: INTERRUPTED,
	hasJson: false,
	async run({ guard, runner }, context) {
		if ((guard === undefined) !== (runner === undefined)) {
			throw new UsageError("--guard and --runner belong together.");
		}
		const signal = context.interruptSignal();
		return withTracedFleet(context, async (fleet) => {
			if (guard !== undefined && runner !== undefined) {
				let isOrphaned = false;
				for (const event of ["end", "close"]) {
					context.stdin.on(event, () => {
						isOrphaned = true;
					});
				}
				context.stdin.resume();
				// What it says goes to its runner, whose end it outlives.
				process.stderr.on("error", () => {});
				const options = {
					...fleet,
					signal,
					isOrphaned: () => isOrphaned,
					isRunner: (holder: string) => isProcess(holder, runner),
				};
				try {
					if (await guardMove(options, guard)) {
						context.stdout(`lifted the fences of ${guard}`);
					}
				} finally {
					// It else keeps this process, which its runner waits for.
					context.stdin.pause();
				}
				return 0;
			}
			context.stderr("watching operations");
			const unlessAway = async (body: () => Promise<void>) => {
				try {
					await body();
				} catch (thrown) {
					// The store or a server is away, or somebody else was faster: the next look shows it.
					context.stderr(reasonOf(thrown));
				}
			};
			const settle = async (opened: string) => {
				await using operation = await Operation.tryTakeOver(
					fleet.store,
					opened,
				);
				if (operation === null) return;
				const { id, step, kind } = operation.record;
				using _guard = kind === "move" ? startGuard(context, id) : null;
				context.stdout(`taking over ${id} at ${step}`);
				const result = await continueOperation({ ...fleet, signal }, operation);
				context.stdout(describeOperation(result).join("\n"));
			};
			/** By id: a copy takes hours, and writes wait for a promotion meanwhile. */
			const running = new Map<string, Promise<void>>();
			const said = new Set<string>();
			while (!signal.aborted) {
				await unlessAway(async () => {
					const { records, unknown } = await readOperations(fleet.store);
					for (const record of unknown) {
						if (isOver(record) || said.has(record.id)) continue;
						said.add(record.id);
						context.stderr(describeUnknown(record));
					}
					for (const record of records) {
						const { id } = record;
						if (needsNoRunner(record.step) || running.has(id)) continue;
						const settling = unlessAway(() => settle(id));
						running.set(
							id,
							settling.finally(() => running.delete(id)),
						);
					}
					for (const name of await fenceReturned(fleet, records)) {
						context.stdout(
							`${name} is back after hosts promote --dead: fenced`,
						);
					}
				});
				await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
			}
			await Promise.all(running.values());
			return codeOfInterrupt(signal);
		});
	},
});
