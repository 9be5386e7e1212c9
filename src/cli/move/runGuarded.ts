import type { MoveOptions } from "../../fleet/move/moveRun.ts";
import { continueMove } from "../../fleet/move/redirect.ts";
import type { MoveResult } from "../../fleet/move/result.ts";
import { takenOverBy } from "../../fleet/operations/operations.ts";
import { isProcess } from "../../fleet/operations/signOfLife.ts";
import type { CommandContext } from "../commandContext.ts";
import { type Guard, startGuard } from "./startGuard.ts";

/**
 * Runs a move beside a guard. If this process, or the store, was paused in a cut-over,
 * the guard has taken the move over and lifted its fences: then this process continues
 * it. `known` is its id; null: it is begun first.
 */
export async function runGuarded(
	context: CommandContext,
	options: MoveOptions,
	known: string | null,
	run: (options: MoveOptions) => Promise<MoveResult>,
): Promise<MoveResult> {
	using stack = new DisposableStack();
	const guards: Guard[] = [];
	const begin = (id: string) =>
		void guards.push(stack.use(startGuard(context, id)));
	let id = known;
	if (id !== null) begin(id);
	const guarded: MoveOptions = {
		...options,
		onStep(step, operation) {
			id ??= operation;
			if (guards.length === 0) begin(operation);
			return options.onStep?.(step, operation);
		},
	};
	let next = () => run(guarded);
	for (;;) {
		try {
			return await next();
		} catch (thrown) {
			const taker = takenOverBy(thrown);
			const guard = guards.at(-1);
			const operation = id;
			if (operation === null || guard === undefined) throw thrown;
			if (taker === null || !isOf(taker, guard)) throw thrown;
			await guard.ended();
			begin(operation);
			next = async () => {
				const result = await continueMove(guarded, operation);
				// Somebody else was faster.
				if (result === null) throw thrown;
				return result;
			};
		}
	}
}

function isOf(holder: string, { pid }: Guard): boolean {
	return pid !== undefined && isProcess(holder, pid);
}
