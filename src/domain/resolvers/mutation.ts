import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Graph, Writes } from "../../graph/types.ts";
import type { RequestContext } from "../../graphql/context.ts";
import {
	type Input,
	type InputShape,
	readInput,
	requestContent,
} from "../../graphql/input/readInput.ts";
import type { Id } from "../../id/ids.ts";
import type { ValidationProblem } from "../../model/validation.ts";
import type { BatchResolver } from "../../plan/batchResolver.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { type Arguments, rootField } from "./rootField.ts";

/** What a mutation works with, its viewer and its input checked. */
export interface MutationContext {
	readonly graph: Graph;
	readonly writes: Writes;
	readonly viewer: Id;
	readonly now: Date;
	readonly call: CallOptions;
}

interface MutationDefinition<S extends InputShape> {
	/** As in the SDL: errors and idempotency keys are told apart by it. */
	readonly name: string;
	readonly input: S;
	/** Faults of fields that depend on each other. */
	validateTogether?(
		given: Readonly<Record<string, unknown>>,
	): readonly ValidationProblem[];
	/** Objects and edges it reads itself. */
	reads(given: Readonly<Record<string, unknown>>): number;
	/** Objects its payload names; 1 if absent. */
	readonly yields?: number;
}

/** A mutation that needs a viewer. Its payload's objects are given as ids. */
export function mutation<S extends InputShape>(
	definition: MutationDefinition<S>,
	apply: (input: Input<S>, change: MutationContext) => Promise<JsonObject>,
): BatchResolver<RequestContext> {
	return anonymousMutation(definition, (input, context, call) => {
		if (context.viewer === null) throw unauthenticated(definition.name);
		return apply(input(), {
			graph: context.graph,
			writes: context.writes(call),
			viewer: context.viewer,
			now: context.now(),
			call,
		});
	});
}

/** A mutation for everyone. The input is a function because whoever may not ask at all is told no more than that. */
export function anonymousMutation<S extends InputShape>(
	definition: MutationDefinition<S>,
	apply: (
		input: () => Input<S>,
		context: RequestContext,
		call: CallOptions,
	) => Promise<JsonObject>,
): BatchResolver<RequestContext> {
	const {
		name,
		input: shape,
		validateTogether: together = () => [],
	} = definition;
	return rootField({
		cost: (args) => definition.reads(given(args)),
		maxObjects: () => definition.yields ?? 1,
		dependsOnViewer: true,
		answer: (args, context, call) =>
			apply(() => readInput(name, shape, given(args), together), context, call),
	});
}

/** The part of `Writes.create` that makes a repeated request the same request. The key's scope is one mutation of one viewer. */
export function idempotency(
	mutationName: string,
	owner: Id | "anonymous",
	input: Readonly<Record<string, JsonValue | undefined>> & {
		readonly idempotencyKey: string | null | undefined;
	},
): Pick<Parameters<Writes["create"]>[0], "idempotency"> {
	const key = input.idempotencyKey;
	if (key === null || key === undefined) return {};
	return {
		idempotency: {
			scope: `${mutationName}:${owner}`,
			key,
			request: requestContent(input),
		},
	};
}

function given(args: Arguments): Readonly<Record<string, unknown>> {
	return typeof args.input === "object" && args.input !== null
		? { ...args.input }
		: {};
}

function unauthenticated(name: string): CorkboardError {
	return new CorkboardError(
		"UNAUTHENTICATED",
		`${name}: expected a request with a viewer's token but got an anonymous one.`,
	);
}
