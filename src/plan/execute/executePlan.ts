import type { GraphQLError, GraphQLSchema } from "graphql";
import type { Graph } from "../../graph/types.ts";
import type { OperationDeadline } from "../../util/deadline.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { BoundPlan } from "../boundPlan.ts";
import { PLAN_CHANNELS } from "../diagnostics.ts";
import type { Plan, PlannedField } from "../plan.ts";
import {
	newResponse,
	type ResponseState,
	responseErrors,
} from "../responseState.ts";
import { AnswerWriter } from "./answerWriter.ts";
import { type ColumnContext, Level } from "./column.ts";
import { StepRunner, type Tracer } from "./stepRunner.ts";

interface ExecuteOptions<Context> {
	readonly schema: GraphQLSchema;
	/** Passed to resolvers. It holds the graph that the plan reads. */
	readonly context: Context & { readonly graph: Graph };
	/** Steps still pending then become UNAVAILABLE, and the response is sent without them. */
	readonly deadline?: OperationDeadline;
	/** For explain. */
	readonly tracer?: Tracer;
}

interface ExecutedPlan {
	/** JSON; `null` if a null propagated to the root. */
	readonly data: string;
	readonly errors: readonly GraphQLError[];
}

/**
 * Executes a plan in two passes. The first reads, breadth-first, in columns: a
 * step is one call for all parents of a level. It ends in the same tick if
 * everything is in memory; what is missing starts in one tick as far as it is
 * known, so that the graph can merge the reads, and each branch continues when its
 * own step is done. The second pass completes and writes, depth-first.
 */
export function executePlan(
	bound: BoundPlan,
	options: ExecuteOptions<object>,
): MaybePromise<ExecutedPlan> {
	const { plan } = bound;
	const { root, serial } = plan;
	if (root.error !== null) return { data: "null", errors: [root.error] };
	const execution = new Execution(bound, options);
	if (serial) return execution.runSerially(plan);
	return execution.run(plan);
}

class Execution implements ColumnContext, Disposable {
	readonly bound: BoundPlan;
	readonly context: { readonly graph: Graph };
	readonly response: ResponseState;
	readonly steps: StepRunner;
	readonly #writer: AnswerWriter;
	/** Levels to start. */
	readonly #queue: Level[] = [];

	constructor(bound: BoundPlan, options: ExecuteOptions<object>) {
		this.bound = bound;
		this.context = options.context;
		this.response = newResponse(bound.plan.serial);
		this.steps = new StepRunner(options, () => this.#startLevels());
		this.#writer = new AnswerWriter(this.response, bound, options.schema);
	}

	[Symbol.dispose](): void {
		this.steps[Symbol.dispose]();
	}

	readonly enqueue = (level: Level): void => {
		this.#queue.push(level);
	};

	run({ root }: Plan): MaybePromise<ExecutedPlan> {
		const level = new Level(this, root, [null]);
		const finish = (): ExecutedPlan => {
			this[Symbol.dispose]();
			return this.#answer(this.#writer.writeObject(level, 0));
		};
		const abandon = (bug: unknown): never => {
			this[Symbol.dispose]();
			throw bug;
		};
		try {
			level.start();
			this.#startLevels();
		} catch (bug) {
			return abandon(bug);
		}
		const idle = this.steps.untilIdle();
		return idle === undefined ? finish() : idle.then(finish, abandon);
	}

	/** Each root field with all below it, one after another (spec §6.2.2). */
	async runSerially({ root }: Plan): Promise<ExecutedPlan> {
		const level = new Level(this, root, [null]);
		for (const field of root.fields) {
			const began = performance.now();
			level.columns[field.column]?.start();
			this.#startLevels();
			await this.steps.untilIdle();
			const isWritten = this.#writer.writeField(field, level, 0);
			this.#report(field, began);
			// A null that propagates to the root ends the mutation.
			if (!isWritten) return this.#answer(false);
		}
		this.#writer.endObject(root.tail);
		return this.#answer(true);
	}

	#report({ key, name }: PlannedField, began: number): void {
		if (!PLAN_CHANNELS.mutation.hasSubscribers) return;
		const error = this.response.errors.find(
			({ path }) => path?.length === 1 && path[0] === key,
		);
		const code = error?.extensions.code;
		PLAN_CHANNELS.mutation.publish({
			field: name,
			code: code === undefined ? null : String(code),
			ms: performance.now() - began,
		});
	}

	/** One after another, not recursively: an operation may have hundreds of levels. */
	#startLevels(): void {
		for (let level = this.#queue.shift(); level; level = this.#queue.shift()) {
			level.start();
		}
	}

	#answer(isWritten: boolean): ExecutedPlan {
		return {
			data: isWritten ? this.#writer.text : "null",
			errors: responseErrors(this.response),
		};
	}
}
