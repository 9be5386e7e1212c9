import type { CacheLayer, Statement } from "../diagnostics.ts";
import type { PageEdge } from "../graph/types.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { BoundPlan } from "./boundPlan.ts";
import type { Cost } from "./cost.ts";
import { countError, type ErrorCounts } from "./errorCounts.ts";
import type {
	ExplainOutput,
	ExplainStatement,
	ExplainStep,
} from "./explainOutput.ts";
import type { Step } from "./plan.ts";
import type { StepTrace, Tracer } from "./stepRunner.ts";
import {
	explainWrite,
	newWriteRecord,
	traceWrite,
	type WriteRecord,
	writeRecordKey,
} from "./writeRecord.ts";

export interface ExplainOptions {
	/** The host of a shard, for steps that caches answered. Without it, only hosts that received a statement are listed. */
	readonly hostOf?: (shard: number) => string | null;
}

/** Records one execution. */
export interface ExplainRecorder {
	readonly tracer: Tracer;
	/** Everything recorded until now. */
	output(): ExplainOutput;
}

/** What one step did, over all its runs. */
interface StepRecord {
	runs: number;
	parents: number;
	results: number;
	startedAt: number;
	endedAt: number;
	hiddenEdges: number;
	readonly errors: ErrorCounts;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly writes: Map<string, WriteRecord>;
	readonly cache: Map<CacheLayer, { hits: number; misses: number }>;
}

export function createExplainRecorder(
	{ plan: { steps, operation } }: BoundPlan,
	{
		cost,
		limit,
		hostOf,
	}: ExplainOptions & { readonly cost: Cost; readonly limit: number },
): ExplainRecorder {
	const records = new Map(steps.map(({ number }) => [number, newRecord()]));
	/** The steps and writes that each statement was reported to. */
	const reporters = new Map<Statement, Set<object>>();
	/** The texts of statements, with the index of each. */
	const texts = new Map<string, number>();
	const start = performance.now();

	function recordOf({ number }: Step): StepRecord {
		return records.get(number) as StepRecord;
	}

	function addStatement(
		to: { readonly statements: Statement[] },
		statement: Statement,
	): void {
		to.statements.push(statement);
		const others = reporters.get(statement) ?? new Set();
		reporters.set(statement, others.add(to));
	}

	function tracer(step: Step, parents: readonly unknown[]): StepTrace {
		const record = recordOf(step);
		record.runs++;
		record.parents += parents.length;
		record.startedAt = Math.min(record.startedAt, performance.now());
		for (const parent of parents) addShard(record, parent);
		return {
			trace: {
				statement: (statement) => addStatement(record, statement),
				cache(layer, hits, misses) {
					const sum = record.cache.get(layer) ?? { hits: 0, misses: 0 };
					sum.hits += hits;
					sum.misses += misses;
					record.cache.set(layer, sum);
				},
				hiddenEdges(count) {
					record.hiddenEdges += count;
				},
				startWrite(description) {
					const key = writeRecordKey(description);
					const write = record.writes.get(key) ?? newWriteRecord(description);
					record.writes.set(key, write);
					return traceWrite(write, description, (statement) =>
						addStatement(write, statement),
					);
				},
			},
			fail(error) {
				record.endedAt = performance.now();
				countError(record.errors, error, parents.length);
			},
			end(results) {
				record.endedAt = performance.now();
				for (const result of results) addResult(record, result);
				const pageFetch = steps.find(
					({ withPage, parent }) => withPage && parent === step.number,
				);
				if (pageFetch) addPages(recordOf(pageFetch), results);
			},
		};
	}

	function locate(
		shardsOfParents: Iterable<number>,
		statements: readonly Statement[],
	): Pick<
		ExplainStep,
		"shards" | "modShards" | "hosts" | "statements" | "rows"
	> {
		const shards = [...shardsOfParents];
		const hosts = [
			...statements.map(({ host }) => host),
			...(hostOf ? shards.map((shard) => hostOf(shard)) : []),
		].filter((host) => host !== null);
		const [onModShards, onShards] = [true, false].map((isMod) =>
			statements
				.filter(({ onModShard = false }) => onModShard === isMod)
				.map(({ shard }) => shard),
		) as [number[], number[]];
		return {
			shards: inOrder([...shards, ...onShards]),
			modShards: inOrder(onModShards),
			hosts: [...new Set(hosts)].sort(),
			statements: statements.map(explainStatement),
			rows: sumRows(statements),
		};
	}

	function explainStatement(statement: Statement): ExplainStatement {
		const { sql, ...rest } = statement;
		return {
			...rest,
			sql: sql === undefined ? null : textNumber(sql.text),
			parameters: sql?.parameters ?? [],
			shared: (reporters.get(statement)?.size ?? 0) > 1,
		};
	}

	function textNumber(text: string): number {
		const number = texts.get(text) ?? texts.size;
		texts.set(text, number);
		return number;
	}

	function explainWriteStep(
		{ path, field }: Step,
		record: WriteRecord,
	): ExplainStep {
		const { description, runs, startedAt, endedAt } = record;
		return {
			kind: "write",
			path,
			field,
			target: description.changes.join(", "),
			withPage: false,
			cost: 0,
			runs,
			parents: runs,
			results: record.rowsWritten,
			errors: [...record.errors.values()],
			hiddenEdges: 0,
			...locate(record.shards, record.statements),
			cache: [],
			startMs: startedAt - start,
			ms: endedAt === 0 ? 0 : endedAt - startedAt,
			write: explainWrite(record),
			steps: [],
		};
	}

	function explainStep(step: Step): ExplainStep {
		const { kind, path, field, target, withPage } = step;
		const record = recordOf(step);
		const { runs, parents, results, startedAt, endedAt } = record;
		return {
			kind,
			path,
			field,
			target,
			withPage,
			cost: cost.steps.get(step.number) ?? 0,
			runs,
			parents,
			results,
			errors: [...record.errors.values()],
			hiddenEdges: record.hiddenEdges,
			...locate(record.shards, record.statements),
			cache: [...record.cache].map(([layer, sum]) => ({ layer, ...sum })),
			startMs: Number.isFinite(startedAt) ? startedAt - start : 0,
			ms: endedAt === 0 ? 0 : endedAt - startedAt,
			write: null,
			steps: [
				...[...record.writes.values()].map((write) =>
					explainWriteStep(step, write),
				),
				...explainBelow(step.number),
			],
		};
	}

	function explainBelow(parent: number | null): ExplainStep[] {
		return steps.filter((step) => step.parent === parent).map(explainStep);
	}

	return {
		tracer,
		output: () => {
			const below = explainBelow(null);
			return {
				operation: [operation.operation, operation.name?.value]
					.filter(Boolean)
					.join(" "),
				cost: cost.total,
				limit,
				ms: performance.now() - start,
				statements: reporters.size,
				rows: sumRows([...reporters.keys()]),
				written: [...records.values()]
					.flatMap(({ writes }) => [...writes.values()])
					.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
				sql: [...texts.keys()],
				steps: below,
			};
		},
	};
}

/** Each number once, the lowest first. */
function inOrder(numbers: readonly number[]): number[] {
	return [...new Set(numbers)].sort((a, b) => a - b);
}

function newRecord(): StepRecord {
	return {
		runs: 0,
		parents: 0,
		results: 0,
		hiddenEdges: 0,
		startedAt: Number.POSITIVE_INFINITY,
		endedAt: 0,
		errors: new Map(),
		shards: new Set(),
		statements: [],
		writes: new Map(),
		cache: new Map(),
	};
}

function sumRows(statements: readonly Statement[]): number {
	return statements.reduce((sum, { rows }) => sum + rows, 0);
}

/** `parent` is an id, an object with an id, or null at the root. */
function addShard({ shards }: StepRecord, parent: unknown): void {
	if (typeof parent === "string") shards.add(unpackId(parent as Id).shard);
	else if (typeof parent === "object" && parent !== null && "id" in parent) {
		shards.add(unpackId(parent.id as Id).shard);
	}
}

/** `result` is that of one parent. */
function addResult(record: StepRecord, result: unknown): void {
	if (result instanceof Error) countError(record.errors, result, 1);
	else if (result !== null && result !== undefined) {
		record.results += edgesOf(result)?.length ?? 1;
	}
}

/** Null for what is not a page. */
function edgesOf(result: unknown): readonly PageEdge[] | null {
	return typeof result === "object" && result !== null && "edges" in result
		? (result.edges as readonly PageEdge[])
		: null;
}

/** The objects of pages are the results of the fetch that the scan did along the way. */
function addPages(record: StepRecord, pages: readonly unknown[]): void {
	record.runs++;
	for (const page of pages) {
		for (const { node } of edgesOf(page) ?? []) {
			record.parents++;
			addResult(record, node);
			addShard(record, node);
		}
	}
}
