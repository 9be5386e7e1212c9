import { CorkboardError } from "../errors.ts";
import type { FeedOfRequest } from "../feed/homeFeeds.ts";
import type { Graph, Writes } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import {
	type Input,
	type InputShape,
	readFields,
	readInput,
	requestContent,
} from "../graphql/input/readInput.ts";
import type { Id } from "../id/ids.ts";
import type { Model } from "../model/types.ts";
import {
	type FieldPolicies,
	fieldProblems,
	type ValidationProblem,
} from "../model/validation.ts";
import type { BatchResolver, InputTypes } from "../plan/batchResolver.ts";
import type { CallOptions } from "../trace.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";
import { type Arguments, rootField } from "./rootField.ts";

/** What a mutation that needs a viewer works with. */
export interface MutationContext {
	readonly graph: Graph;
	readonly fields: FieldPolicies;
	readonly writes: Writes;
	readonly feed: FeedOfRequest | null;
	readonly viewer: Id;
	readonly now: Date;
	readonly call: CallOptions;
}

interface MutationDefinition<S extends InputShape> {
	/** The field's name in the SDL. Errors begin with it, idempotency keys are scoped by it. */
	readonly name: string;
	readonly input: (types: InputTypes) => S;
	/** Problems of fields that depend on each other. */
	validateTogether?(
		given: Readonly<Record<string, unknown>>,
	): readonly ValidationProblem[];
	/** The most objects and edges that the mutation itself reads. */
	cost(given: Readonly<Record<string, unknown>>): number;
	/** How many objects its payload may name; 1 if absent. */
	readonly maxObjects?: number;
}

/** A mutation that needs a viewer. Its payload names objects by id. */
export function mutation<S extends InputShape>(
	definition: MutationDefinition<S>,
	apply: (input: Input<S>, context: MutationContext) => Promise<JsonObject>,
): BatchResolver<RequestContext> {
	const inputs = new MutationInputs(definition);
	return mutationField(inputs, (args, context, call) => {
		if (context.viewer === null) {
			throw new CorkboardError(
				"UNAUTHENTICATED",
				`${definition.name} needs a viewer: send an access token.`,
			);
		}
		return apply(inputs.read(args, context), {
			graph: context.graph,
			fields: context.fields,
			writes: context.writes(call),
			feed: context.feed ?? null,
			viewer: context.viewer,
			now: context.now(),
			call,
		});
	});
}

/** A mutation that needs no viewer. `apply` reads the input by the function it gets: after it knows that the caller may ask at all. */
export function anonymousMutation<S extends InputShape>(
	definition: MutationDefinition<S>,
	apply: (
		input: () => Input<S>,
		context: RequestContext,
		call: CallOptions,
	) => Promise<JsonObject>,
): BatchResolver<RequestContext> {
	const inputs = new MutationInputs(definition);
	return mutationField(inputs, (args, context, call) =>
		apply(() => inputs.read(args, context), context, call),
	);
}

function mutationField<S extends InputShape>(
	inputs: MutationInputs<S>,
	resolve: (
		args: Arguments,
		context: RequestContext,
		call: CallOptions,
	) => Promise<JsonObject>,
): BatchResolver<RequestContext> {
	const { definition } = inputs;
	return {
		...rootField({
			cost: (args) => definition.cost(given(args)),
			maxObjects: () => definition.maxObjects ?? 1,
			dependsOnViewer: true,
			resolve,
		}),
		inputProblems: (args, types) => inputs.problems(args, types),
		inputFields: (types) => Object.keys(inputs.shapeOf(types)),
	};
}

/** Reads the input of one mutation, by the shape that a model gives it. */
class MutationInputs<S extends InputShape> {
	readonly definition: MutationDefinition<S>;
	readonly #shapes = new WeakMap<Model, S>();

	constructor(definition: MutationDefinition<S>) {
		this.definition = definition;
	}

	/** Throws BAD_USER_INPUT with all problems of its fields. */
	read(args: Arguments, { graph, fields }: RequestContext): Input<S> {
		const { name, validateTogether = () => [] } = this.definition;
		const shape = this.shapeOf({ model: graph.model, fields });
		return readInput(name, shape, given(args), validateTogether);
	}

	problems(args: Arguments, types: InputTypes) {
		return fieldProblems(readFields(this.shapeOf(types), given(args)).problems);
	}

	shapeOf(types: InputTypes): S {
		const known = this.#shapes.get(types.model);
		if (known !== undefined) return known;
		const shape = this.definition.input(types);
		this.#shapes.set(types.model, shape);
		return shape;
	}
}

/**
 * The error of a field of the input, for `apply` to throw. `must` follows the word must,
 * such as `not be in the future`; clients show `advice`, a sentence, beside the field.
 */
export function invalidField(
	mutationName: string,
	field: string,
	must: string,
	advice: string,
): CorkboardError {
	return new CorkboardError(
		"BAD_USER_INPUT",
		`${mutationName}: ${field} must ${must}.`,
		{ fields: [{ path: ["input", field], code: "INVALID", message: advice }] },
	);
}

export function ownId(mutationName: string, field: string): CorkboardError {
	return invalidField(
		mutationName,
		field,
		"not be the viewer's own id",
		"Choose somebody other than yourself.",
	);
}

/** The part of `Writes.create` that recognizes a repeated request. The scope of a key is one mutation of one viewer. */
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
