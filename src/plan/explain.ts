import type { GraphQLError } from "graphql";
import type { CacheLayer, Statement } from "../diagnostics.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Bound } from "./inputs.ts";
import type { Step } from "./plan.ts";
import type { Price } from "./price.ts";
import type { StepTrace, Tracer } from "./run.ts";

/** An operation with what each of its steps did: plain data. */
export interface Explained {
	/** `query`, `mutation`, with the operation's name. */
	readonly operation: string;
	readonly price: number;
	readonly limit: number;
	readonly ms: number;
	/** Statements that were sent to hosts, and the rows they gave. */
	readonly statements: number;
	readonly rows: number;
	readonly steps: readonly ExplainedStep[];
}

/** With the errors of its answer, as they are: for whoever runs the program, not for clients. */
export interface Explanation extends Explained {
	readonly errors: readonly ExplainedError[];
}

export interface ExplainedStep {
	readonly kind: Step["kind"];
	/** Response keys from the root. */
	readonly path: string;
	/** `User.followers` */
	readonly field: string;
	/** The mapping, the types, or the resolver's field. */
	readonly reads: string;
	/** Read together with the scan above it, whose statements and cache answers are those of both. */
	readonly withPage: boolean;
	/** A mutation: of its statements only reads are told, not the transaction and what it owed. */
	readonly writes: boolean;
	readonly price: number;
	/** How often it ran: once for each level it was reached on, 0 if nothing led to it. */
	readonly runs: number;
	/** How many lists, objects or parents it was asked about. */
	readonly parents: number;
	/** Edges of pages, objects that were seen, or values. */
	readonly answers: number;
	/** Where the parents are: lists and objects live on the shard their id says. */
	readonly shards: readonly number[];
	readonly hosts: readonly string[];
	readonly statements: readonly ExplainedStatement[];
	readonly cache: readonly ExplainedCache[];
	readonly rows: number;
	/** From the beginning of the operation to its first start, in ms. */
	readonly at: number;
	/** From its first start to its last answer. */
	readonly ms: number;
	readonly steps: readonly ExplainedStep[];
}

export interface ExplainedStatement extends Statement {
	/** Told to another step as well: steps of one level share what they read. */
	readonly shared: boolean;
}

export interface ExplainedCache {
	readonly layer: CacheLayer;
	readonly hits: number;
	readonly misses: number;
}

export interface ExplainedError {
	readonly message: string;
	readonly path: string;
	readonly code: string;
}

export interface Explaining {
	/** The host of a shard, for what caches answered; without it only hosts that were asked are told. */
	readonly hostOf?: (shard: number) => string | null;
}

/** Watches one run. */
export interface Account {
	readonly tracer: Tracer;
	/** What it saw, from when it was made until now. */
	explained(): Explained;
}

export function accountOf(
	bound: Bound,
	{
		price,
		limit,
		hostOf,
	}: Explaining & { readonly price: Price; readonly limit: number },
): Account {
	const { steps, operation } = bound.plan;
	const records = new Map(steps.map((step) => [step.number, record()]));
	/** How many steps each statement was told to. */
	const told = new Map<Statement, Set<number>>();
	const start = performance.now();

	function tracer(step: Step, parents: readonly unknown[]): StepTrace {
		const kept = records.get(step.number) as Record;
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
					kept.statements.push(statement);
					const others = told.get(statement) ?? new Set();
					told.set(statement, others.add(step.number));
				},
				cache(layer, hits, misses) {
					const sum = kept.cache.get(layer) ?? { hits: 0, misses: 0 };
					sum.hits += hits;
					sum.misses += misses;
					kept.cache.set(layer, sum);
				},
			},
			end(answers) {
				kept.ended = performance.now();
				for (const answer of answers) kept.answers += answersIn(answer);
				const nodes = steps.find(
					({ withPage, parent }) => withPage && parent === step.number,
				);
				if (nodes) seeNodes(records.get(nodes.number) as Record, answers);
			},
		};
	}

	function explainedStep(step: Step): ExplainedStep {
		const kept = records.get(step.number) as Record;
		const asked = kept.statements.map(({ host }) => host);
		const shards = [
			...new Set([
				...kept.shards,
				...kept.statements.map(({ shard }) => shard),
			]),
		].sort((a, b) => a - b);
		const hosts = hostOf ? shards.map((shard) => hostOf(shard)) : [];
		return {
			kind: step.kind,
			path: step.path,
			field: step.field,
			reads: step.reads,
			withPage: step.withPage,
			writes: bound.plan.serial && step.parent === null,
			price: price.steps.get(step.number) ?? 0,
			runs: kept.runs,
			parents: kept.parents,
			answers: kept.answers,
			shards,
			hosts: [
				...new Set([...asked, ...hosts].filter((host) => host !== null)),
			].sort(),
			statements: kept.statements.map((statement) => ({
				...statement,
				shared: (told.get(statement)?.size ?? 0) > 1,
			})),
			cache: [...kept.cache].map(([layer, sum]) => ({ layer, ...sum })),
			rows: rowsOf(kept.statements),
			at: kept.started === Number.POSITIVE_INFINITY ? 0 : kept.started - start,
			ms: kept.ended === 0 ? 0 : kept.ended - kept.started,
			steps: under(step.number),
		};
	}

	function under(parent: number | null): ExplainedStep[] {
		return steps.filter((step) => step.parent === parent).map(explainedStep);
	}

	return {
		tracer,
		explained: () => ({
			operation: [operation.operation, operation.name?.value]
				.filter(Boolean)
				.join(" "),
			price: price.total,
			limit,
			ms: performance.now() - start,
			statements: told.size,
			rows: rowsOf([...told.keys()]),
			steps: under(null),
		}),
	};
}

export function explanation(
	explained: Explained,
	errors: readonly GraphQLError[] = [],
): Explanation {
	return { ...explained, errors: errors.map(explainedError) };
}

interface Record {
	runs: number;
	parents: number;
	answers: number;
	started: number;
	ended: number;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly cache: Map<CacheLayer, { hits: number; misses: number }>;
}

function record(): Record {
	return {
		runs: 0,
		parents: 0,
		answers: 0,
		started: Number.POSITIVE_INFINITY,
		ended: 0,
		shards: new Set(),
		statements: [],
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

function answersIn(answer: unknown): number {
	if (answer === null || answer === undefined || answer instanceof Error) {
		return 0;
	}
	return edgesOf(answer)?.length ?? 1;
}

function edgesOf(answer: unknown): readonly { node: unknown }[] | null {
	return typeof answer === "object" && answer !== null && "edges" in answer
		? (answer.edges as readonly { node: unknown }[])
		: null;
}

/** The fetch that came with a page did what the page shows of it. */
function seeNodes(nodes: Record, pages: readonly unknown[]): void {
	nodes.runs++;
	for (const page of pages) {
		for (const { node } of edgesOf(page) ?? []) {
			nodes.parents++;
			nodes.answers += answersIn(node);
			const id = idOf(node);
			if (id !== null) nodes.shards.add(unpackId(id).shard);
		}
	}
}

function explainedError(error: GraphQLError): ExplainedError {
	return {
		message: error.message,
		path: (error.path ?? []).join("."),
		code: String(error.extensions.code ?? ""),
	};
}
