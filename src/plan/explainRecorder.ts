import type { GraphQLError } from "graphql";
import type { CacheLayer, Statement } from "../diagnostics.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { BoundPlan } from "./boundPlan.ts";
import type { Cost } from "./cost.ts";
import {
	countError,
	type ErrorCount,
	type ErrorCounts,
} from "./errorCounts.ts";
import type { StepTrace, Tracer } from "./executePlan.ts";
import {
	type ExplainWrite,
	explainWrite,
	type WriteRecord,
	writeKey,
	writeRecord,
	writeTrace,
} from "./explainWrite.ts";
import type { Step } from "./plan.ts";

/** An operation with what each of its steps did: plain data. */
export interface ExplainOutput {
	/** `query`, `mutation`, with the operation's name. */
	readonly operation: string;
	readonly cost: number;
	readonly limit: number;
	readonly ms: number;
	/** Statements that were sent to hosts, and the rows they gave or changed, as the hosts count them. */
	readonly statements: number;
	readonly rows: number;
	/** Objects, edges and names that were written. */
	readonly written: number;
	readonly steps: readonly ExplainStep[];
}

/** With the errors of its answer, as they are: for whoever runs the program, not for clients. */
export interface ExplainWithErrors extends ExplainOutput {
	readonly errors: readonly ExplainError[];
}

export interface ExplainStep {
	/** A write is no step of the plan: it is what a mutation's call did to shards. */
	readonly kind: Step["kind"] | "write";
	/** Response keys from the root. */
	readonly path: string;
	/** `User.followers` */
	readonly field: string;
	/** The mapping, the types, the resolver's field, or what was written. */
	readonly target: string;
	/** Read together with the scan above it, whose statements and cache answers are those of both. */
	readonly withPage: boolean;
	readonly cost: number;
	/** How often it ran: once for each level it was reached on, 0 if nothing led to it. */
	readonly runs: number;
	/** How many lists, objects or parents it was asked about. */
	readonly parents: number;
	/** Edges of pages, objects that were seen, values, or what was written. */
	readonly results: number;
	/** Parents that were answered with an error, by code and host. */
	readonly errors: readonly ErrorCount[];
	/** Where the parents are: lists and objects live on the shard their id says. */
	readonly shards: readonly number[];
	readonly hosts: readonly string[];
	readonly statements: readonly ExplainStatement[];
	readonly cache: readonly ExplainCache[];
	readonly rows: number;
	/** From the beginning of the operation to its first start, in ms. */
	readonly startMs: number;
	/** From its first start to its last answer. */
	readonly ms: number;
	/** What is told of a write only; null for other steps. */
	readonly write: ExplainWrite | null;
	readonly steps: readonly ExplainStep[];
}

export interface ExplainStatement extends Statement {
	/** Told to another step as well: steps of one level share what they read. */
	readonly shared: boolean;
}

export interface ExplainCache {
	readonly layer: CacheLayer;
	readonly hits: number;
	readonly misses: number;
}

export interface ExplainError {
	readonly message: string;
	readonly path: string;
	readonly code: string;
}

export interface ExplainOptions {
	/** The host of a shard, for what caches answered; without it only hosts that were asked are told. */
	readonly hostOf?: (shard: number) => string | null;
}

/** Watches one run. */
export interface ExplainRecorder {
	readonly tracer: Tracer;
	/** What it saw, from when it was made until now. */
	output(): ExplainOutput;
}

export function createExplainRecorder(
	bound: BoundPlan,
	{
		cost,
		limit,
		hostOf,
	}: ExplainOptions & { readonly cost: Cost; readonly limit: number },
): ExplainRecorder {
	const { steps, operation } = bound.plan;
	const records = new Map(steps.map((step) => [step.number, record()]));
	/** How many steps each statement was told to. */
	const told = new Map<Statement, Set<object>>();
	const start = performance.now();
	const tell = (
		to: { readonly statements: Statement[] },
		statement: Statement,
	) => {
		to.statements.push(statement);
		const others = told.get(statement) ?? new Set();
		told.set(statement, others.add(to));
	};

	function tracer(step: Step, parents: readonly unknown[]): StepTrace {
		const kept = records.get(step.number) as StepRecord;
		kept.runs++;
		kept.parents += parents.length;
		kept.started = Math.min(kept.started, performance.now());
		for (const parent of parents) {
			const id = idOf(parent);
			if (id !== null) kept.shards.add(unpackId(id).shard);
		}
		return {
			trace: {
				statement(statement) {
					tell(kept, statement);
				},
				cache(layer, hits, misses) {
					const sum = kept.cache.get(layer) ?? { hits: 0, misses: 0 };
					sum.hits += hits;
					sum.misses += misses;
					kept.cache.set(layer, sum);
				},
				startWrite(begun) {
					const key = writeKey(begun);
					const write = kept.writes.get(key) ?? writeRecord(begun);
					kept.writes.set(key, write);
					return writeTrace(write, begun, (statement) =>
						tell(write, statement),
					);
				},
			},
			fail(error) {
				kept.ended = performance.now();
				countError(kept.failures, error, parents.length);
			},
			end(answers) {
				kept.ended = performance.now();
				for (const answer of answers) see(kept, answer);
				const nodes = steps.find(
					({ withPage, parent }) => withPage && parent === step.number,
				);
				if (nodes) seeNodes(records.get(nodes.number) as StepRecord, answers);
			},
		};
	}

	function placesOf(
		shards: Iterable<number>,
		statements: readonly Statement[],
	): Pick<ExplainStep, "shards" | "hosts" | "statements" | "rows"> {
		const living = [...shards];
		const hosts = hostOf ? living.map((shard) => hostOf(shard)) : [];
		const asked = statements.map(({ host }) => host);
		return {
			shards: [
				...new Set([...living, ...statements.map(({ shard }) => shard)]),
			].sort((a, b) => a - b),
			hosts: [
				...new Set([...asked, ...hosts].filter((host) => host !== null)),
			].sort(),
			statements: statements.map((statement) => ({
				...statement,
				shared: (told.get(statement)?.size ?? 0) > 1,
			})),
			rows: rowsOf(statements),
		};
	}

	function writeStep({ path, field }: Step, record: WriteRecord): ExplainStep {
		const {
			start: begun,
			runs,
			shards,
			statements,
			startedAt: started,
			endedAt: ended,
		} = record;
		return {
			kind: "write",
			path,
			field,
			target: begun.changes.join(", "),
			withPage: false,
			cost: 0,
			runs,
			parents: runs,
			results: record.written,
			errors: [...record.errors.values()],
			...placesOf(shards, statements),
			cache: [],
			startMs: started - start,
			ms: ended === 0 ? 0 : ended - started,
			write: explainWrite(record),
			steps: [],
		};
	}

	function explainedStep(step: Step): ExplainStep {
		const kept = records.get(step.number) as StepRecord;
		return {
			kind: step.kind,
			path: step.path,
			field: step.field,
			target: step.target,
			withPage: step.withPage,
			cost: cost.steps.get(step.number) ?? 0,
			runs: kept.runs,
			parents: kept.parents,
			results: kept.answers,
			errors: [...kept.failures.values()],
			...placesOf(kept.shards, kept.statements),
			cache: [...kept.cache].map(([layer, sum]) => ({ layer, ...sum })),
			startMs:
				kept.started === Number.POSITIVE_INFINITY ? 0 : kept.started - start,
			ms: kept.ended === 0 ? 0 : kept.ended - kept.started,
			write: null,
			steps: [
				...[...kept.writes.values()].map((write) => writeStep(step, write)),
				...under(step.number),
			],
		};
	}

	function under(parent: number | null): ExplainStep[] {
		return steps.filter((step) => step.parent === parent).map(explainedStep);
	}

	return {
		tracer,
		output: () => ({
			operation: [operation.operation, operation.name?.value]
				.filter(Boolean)
				.join(" "),
			cost: cost.total,
			limit,
			ms: performance.now() - start,
			statements: told.size,
			rows: rowsOf([...told.keys()]),
			written: [...records.values()]
				.flatMap(({ writes }) => [...writes.values()])
				.reduce((sum, { written }) => sum + written, 0),
			steps: under(null),
		}),
	};
}

export function withErrors(
	explained: ExplainOutput,
	errors: readonly GraphQLError[] = [],
): ExplainWithErrors {
	return { ...explained, errors: errors.map(explainedError) };
}

interface StepRecord {
	runs: number;
	parents: number;
	answers: number;
	started: number;
	ended: number;
	readonly failures: ErrorCounts;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly writes: Map<string, WriteRecord>;
	readonly cache: Map<CacheLayer, { hits: number; misses: number }>;
}

function record(): StepRecord {
	return {
		runs: 0,
		parents: 0,
		answers: 0,
		started: Number.POSITIVE_INFINITY,
		ended: 0,
		failures: new Map(),
		shards: new Set(),
		statements: [],
		writes: new Map(),
		cache: new Map(),
	};
}

function rowsOf(statements: readonly Statement[]): number {
	return statements.reduce((sum, { rows }) => sum + rows, 0);
}

/** A parent is an id, or an object that has one, or the root. */
function idOf(parent: unknown): Id | null {
	if (typeof parent === "string") return parent as Id;
	return typeof parent === "object" && parent !== null && "id" in parent
		? (parent.id as Id)
		: null;
}

/** An answer to one parent. */
function see(record: StepRecord, answer: unknown): void {
	if (answer instanceof Error) countError(record.failures, answer, 1);
	else if (answer !== null && answer !== undefined) {
		record.answers += edgesOf(answer)?.length ?? 1;
	}
}

function edgesOf(answer: unknown): readonly { node: unknown }[] | null {
	return typeof answer === "object" && answer !== null && "edges" in answer
		? (answer.edges as readonly { node: unknown }[])
		: null;
}

/** The fetch that came with a page did what the page shows of it. */
function seeNodes(nodes: StepRecord, pages: readonly unknown[]): void {
	nodes.runs++;
	for (const page of pages) {
		for (const { node } of edgesOf(page) ?? []) {
			nodes.parents++;
			see(nodes, node);
			const id = idOf(node);
			if (id !== null) nodes.shards.add(unpackId(id).shard);
		}
	}
}

function explainedError(error: GraphQLError): ExplainError {
	return {
		message: error.message,
		path: (error.path ?? []).join("."),
		code: String(error.extensions.code ?? ""),
	};
}
