import { GraphQLError, type GraphQLSchema } from "graphql";
import type { CallOptions, Trace } from "../diagnostics.ts";
import { asCorkboardError, CorkboardError } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import { argumentsOf, type BoundPlan } from "./boundPlan.ts";
import {
	type CompletionContext,
	completeLeafValue,
	completeValue,
	type NextLevel,
	newLevel,
} from "./completeValue.ts";
import { executeIntrospection } from "./introspection.ts";
import {
	namedShape,
	type ObjectShape,
	type PlannedField,
	type Selection,
	type Step,
} from "./plan.ts";
import {
	addError,
	checkResponseSize,
	newResponse,
	type ResponseState,
	responseErrors,
} from "./responseState.ts";
import {
	propagateNull,
	type ResultNode,
	raiseFieldError,
} from "./resultNode.ts";

export interface ExecuteOptions<Context> {
	readonly schema: GraphQLSchema;
	/** The request's own, for resolvers; with the graph that the plan reads. */
	readonly context: Context & { readonly graph: Graph };
	/** The deadline: what is not there when it aborts becomes UNAVAILABLE, and the answer goes out. */
	readonly signal?: AbortSignal;
	/** Asked at the start of each step, for explain. */
	readonly tracer?: Tracer;
}

/** `parents`: ids for a scan or a fetch, objects for a call. */
export type Tracer = (step: Step, parents: readonly unknown[]) => StepTrace;

export interface StepTrace {
	readonly trace: Trace;
	end(answers: readonly unknown[]): void;
	/** Instead, where all parents are answered with the same error. */
	fail(error: unknown): void;
}

export interface ExecutionResult {
	readonly data: Record<string, unknown> | null;
	readonly errors?: readonly GraphQLError[];
}

/** One request under way. */
interface Execution {
	readonly bound: BoundPlan;
	readonly options: ExecuteOptions<object>;
	/** What untraced steps hand down. */
	readonly call: CallOptions;
	readonly response: ResponseState;
	/** Steps that were started and have not answered. */
	readonly pending: Set<Pending>;
	aborted: boolean;
	/** Called when nothing is pending, or with what no step should have thrown. */
	idle: ((bug?: unknown) => void) | null;
}

interface Pending {
	refuse(error: CorkboardError): void;
}

/**
 * Run a plan breadth-first. A step is one call for all parents of its level
 * and one promise; steps whose parents came together start in one tick, so the
 * graph can merge what they read. Everything else is read where it stands.
 */
export async function executePlan(
	bound: BoundPlan,
	options: ExecuteOptions<object>,
): Promise<ExecutionResult> {
	const { root, serial } = bound.plan;
	const { signal } = options;
	if (root.error !== null) {
		return { errors: [root.error], data: null };
	}
	const data = { ...root.template };
	const place: ResultNode = {
		parent: null,
		key: "",
		nullable: true,
		data: data,
		source: null,
		isNulled: false,
	};
	const state: Execution = {
		bound,
		options,
		call: signal ? { signal } : {},
		response: newResponse(serial),
		pending: new Set(),
		aborted: signal?.aborted ?? false,
		idle: null,
	};
	const onAbort = () => abort(state);
	signal?.addEventListener("abort", onAbort, { once: true });
	try {
		if (serial) {
			for (const field of root.fields) {
				if (place.isNulled) break;
				executeField(state, field, [place]);
				await untilIdle(state);
			}
		} else {
			executeSelectionSet(state, root, [place]);
			await untilIdle(state);
		}
	} finally {
		signal?.removeEventListener("abort", onAbort);
	}
	checkResponseSize(state.response);
	const errors = responseErrors(state.response);
	const answer = place.isNulled ? null : data;
	return errors.length > 0 ? { errors, data: answer } : { data: answer };
}

function executeSelectionSet(
	run: Execution,
	selection: Selection,
	places: readonly ResultNode[],
): void {
	for (const field of selection.fields) executeField(run, field, places);
}

function executeField(
	run: Execution,
	field: PlannedField,
	places: readonly ResultNode[],
): void {
	const { shape, access: read, key } = field;
	const input = argumentsOf(run.bound, field);
	if (input instanceof GraphQLError) {
		refuse(run, field, places, input);
		return;
	}
	const completing = { field, response: run.response, next: newLevel() };
	switch (read.kind) {
		case "value":
			if (shape.kind === "leaf") {
				for (const place of places) {
					completeLeafValue(
						completing,
						shape,
						readValue(read.of, place),
						place,
						key,
					);
				}
				checkResponseSize(run.response);
				return;
			}
			for (const place of places) {
				completeValue(completing, shape, readValue(read.of, place), place, key);
			}
			descend(run, completing);
			return;
		case "scan": {
			const { mapping, rootId: root, step } = read;
			const page = input.page;
			if (page === null) throw new TypeError("expected a scan to have a page");
			const froms = places.map(({ source }) => root ?? (source as Node).id);
			begin(run, step, froms, {
				start: (call) =>
					run.options.context.graph.readPages(mapping, froms, page, call),
				accept: (pages) => accept(run, completing, places, pages),
				refuse: (error) => refuse(run, field, places, error),
			});
			return;
		}
		case "call": {
			const { resolver, step } = read;
			const parents = places.map(({ source }) => source as Node | null);
			begin(run, step, parents, {
				start: (call) =>
					resolver.resolve({
						parents,
						args: input.args,
						context: run.options.context,
						call,
					}),
				accept: (values) => accept(run, completing, places, values),
				refuse: (error) => refuse(run, field, places, error),
			});
			return;
		}
		case "introspection":
			for (const place of places) {
				const { value, errors } = executeIntrospection(
					run.options.schema,
					read.document,
					run.bound.variables,
					key,
				);
				for (const error of errors) addError(run.response, () => error);
				place.data[key] = value;
				if (value === null && !shape.nullable) propagateNull(place);
			}
	}
}

function accept(
	run: Execution,
	completing: CompletionContext,
	places: readonly ResultNode[],
	values: readonly unknown[],
): void {
	const { shape, key } = completing.field;
	for (let at = 0; at < places.length; at++) {
		completeValue(completing, shape, values[at], places[at] as ResultNode, key);
	}
	descend(run, completing);
}

function refuse(
	run: Execution,
	field: PlannedField,
	places: readonly ResultNode[],
	error: unknown,
): void {
	for (const place of places) {
		raiseFieldError(
			run.response,
			field,
			place,
			field.key,
			field.shape.nullable,
			error,
		);
	}
}

/** Go on with what a field left to be done: fetch what it named, run what is selected of what it gave. */
function descend(
	run: Execution,
	{ field, next: gathered }: CompletionContext,
): void {
	checkResponseSize(run.response);
	if (gathered.ids.length > 0) fetch(run, field, gathered);
	for (let at = 0; at < gathered.selections.length; at++) {
		executeSelectionSet(
			run,
			gathered.selections[at] as Selection,
			gathered.nodes[at] as ResultNode[],
		);
	}
}

function fetch(
	run: Execution,
	field: PlannedField,
	{ ids, owners, keys }: NextLevel,
): void {
	const shape = namedShape(field.shape) as ObjectShape;
	begin(run, shape.fetch as Step, ids, {
		start: (call) => run.options.context.graph.readObjects(ids, call),
		accept: (nodes) => {
			const completing = { field, response: run.response, next: newLevel() };
			for (let at = 0; at < ids.length; at++) {
				const owner = owners[at] as ResultNode;
				const key = keys[at] as string | number;
				// A node that is there is no id, so this asks for no second fetch.
				completeValue(completing, shape, nodes[at], owner, key);
			}
			descend(run, completing);
		},
		refuse: (error) => {
			for (let at = 0; at < ids.length; at++) {
				const owner = owners[at] as ResultNode;
				const key = keys[at] as string | number;
				raiseFieldError(run.response, field, owner, key, shape.nullable, error);
			}
		},
	});
}

/** Start a step. Exactly one of `accept` and `refuse` is called, once. */
function begin(
	run: Execution,
	step: Step,
	parents: readonly (Id | Node | null)[],
	doing: {
		readonly start: (call: CallOptions) => Promise<readonly unknown[]>;
		readonly accept: (answers: readonly unknown[]) => void;
		readonly refuse: (error: CorkboardError) => void;
	},
): void {
	if (run.aborted) {
		doing.refuse(late());
		return;
	}
	const traced = run.options.tracer?.(step, parents);
	let started: Promise<readonly unknown[]>;
	try {
		started = doing.start(
			traced ? { ...run.call, trace: traced.trace } : run.call,
		);
	} catch (thrown) {
		traced?.fail(thrown);
		doing.refuse(asCorkboardError(thrown));
		return;
	}
	run.pending.add(doing);
	const finish = (end: () => void) => {
		// What comes after the deadline is not waited for any more.
		if (!run.pending.delete(doing)) return;
		try {
			end();
		} catch (bug) {
			run.idle?.(bug);
			return;
		}
		if (run.pending.size === 0) run.idle?.();
	};
	started.then(
		(answers) =>
			finish(() => {
				traced?.end(answers);
				if (answers.length === parents.length) doing.accept(answers);
				else doing.refuse(miscounted(step, parents.length, answers.length));
			}),
		(thrown) =>
			finish(() => {
				traced?.fail(thrown);
				doing.refuse(asCorkboardError(thrown));
			}),
	);
}

function untilIdle(run: Execution): Promise<void> | undefined {
	if (run.pending.size === 0) return undefined;
	return new Promise((resolve, reject) => {
		run.idle = (bug) => (bug === undefined ? resolve() : reject(bug));
	});
}

function abort(run: Execution): void {
	run.aborted = true;
	const error = late();
	for (const step of run.pending) {
		run.pending.delete(step);
		step.refuse(error);
	}
	run.idle?.();
}

function late(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"The answer was not there within the time a request may take.",
	);
}

function miscounted(step: Step, asked: number, got: number): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`Expected ${step.kind} ${step.target} to answer each of ${asked} parents but got: ${got} answers.`,
	);
}

function readValue(
	of: (source: unknown) => unknown,
	place: ResultNode,
): unknown {
	try {
		return of(place.source);
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
