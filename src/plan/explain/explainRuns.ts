import type { PageEdge } from "../../graph/types.ts";
import type { CacheLayer, Statement } from "../../trace.ts";
import type { Cost } from "../compile/cost.ts";
import type { PlanStep } from "../plan.ts";
import { countError, type ErrorCounts } from "./errorCounts.ts";
import type {
	ExplainOutput,
	ExplainStatement,
	ExplainStep,
} from "./explainOutput.ts";
import { addShardOf, type StepRecord } from "./stepRecord.ts";
import { explainWrite, type WriteRecord } from "./writeRecord.ts";

export interface ExplainOptions {
	/** The host of a shard, for steps that caches answered. Without it, only hosts that received a statement are listed. */
	readonly hostOf?: ((shard: number) => string | null) | undefined;
}

export interface CostAndLimit {
	readonly cost: Cost;
	readonly limit: number;
}

/** By the number of the step that caused them. */
export type Writes = ReadonlyMap<number, ReadonlyMap<string, WriteRecord>>;

/** What one step did, over all its runs. */
interface StepSum {
	runs: number;
	parents: number;
	results: number;
	startedAt: number;
	endedAt: number;
	hiddenEdges: number;
	readonly errors: ErrorCounts;
	readonly shards: Set<number>;
	readonly statements: Statement[];
	readonly notes: string[];
	readonly cache: Map<CacheLayer, { hits: number; misses: number }>;
}

/** What the runs of steps, and the writes that they caused, add up to. */
export function explainRuns(
	steps: readonly PlanStep[],
	name: string,
	runs: readonly StepRecord[],
	writes: Writes,
	/** In milliseconds of `performance.now()`. */
	start: number,
	end: number,
	options: ExplainOptions & CostAndLimit,
): ExplainOutput {
	const sums = new RunSums(steps, writes, start, options);
	for (const run of runs) sums.add(run);
	return sums.explain(name, end);
}

class RunSums {
	readonly #steps: readonly PlanStep[];
	readonly #writes: Writes;
	readonly #start: number;
	readonly #options: ExplainOptions & CostAndLimit;
	/** By the number of the step. */
	readonly #sums: ReadonlyMap<number, StepSum>;
	/** The steps and writes that each statement was reported to. */
	readonly #reporters = new Map<Statement, Set<object>>();
	/** The texts of statements, with the index of each. */
	readonly #texts = new Map<string, number>();

	constructor(
		steps: readonly PlanStep[],
		writes: Writes,
		start: number,
		options: ExplainOptions & CostAndLimit,
	) {
		this.#steps = steps;
		this.#writes = writes;
		this.#start = start;
		this.#options = options;
		this.#sums = new Map(steps.map(({ number }) => [number, newSum()]));
	}

	explain(operation: string, end: number): ExplainOutput {
		const { cost, limit } = this.#options;
		const writes = [...this.#writes.values()].flatMap((some) => [
			...some.values(),
		]);
		for (const write of writes) {
			for (const statement of write.statements) {
				this.#addReporter(statement, write);
			}
		}
		const steps = this.#explainBelow(null);
		return {
			operation,
			cost: cost.total,
			limit,
			ms: end - this.#start,
			statements: this.#reporters.size,
			rows: sumRows([...this.#reporters.keys()]),
			written: writes.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0),
			sql: [...this.#texts.keys()],
			steps,
		};
	}

	#sumOf({ number }: PlanStep): StepSum {
		return this.#sums.get(number) as StepSum;
	}

	#addReporter(statement: Statement, origin: object): void {
		const others = this.#reporters.get(statement) ?? new Set();
		this.#reporters.set(statement, others.add(origin));
	}

	add(run: StepRecord): void {
		const { step, parents, results, details } = run;
		const { startedAt, endedAt } = details;
		const record = this.#sumOf(step);
		record.runs++;
		record.parents += parents.length;
		if (startedAt !== 0) {
			record.startedAt = Math.min(record.startedAt, startedAt);
		}
		record.endedAt = Math.max(record.endedAt, endedAt);
		record.hiddenEdges += details.edgesHidden;
		record.notes.push(...details.notes);
		for (const parent of parents) addShardOf(record.shards, parent);
		for (const statement of details.statements) {
			record.statements.push(statement);
			this.#addReporter(statement, record);
		}
		for (const { layer, hits, misses } of run.answers) {
			const sum = record.cache.get(layer) ?? { hits: 0, misses: 0 };
			sum.hits += hits;
			sum.misses += misses;
			record.cache.set(layer, sum);
		}
		if (results !== null) {
			for (const result of results) addResult(record, result);
			const pageFetch = this.#steps.find(
				({ withPage, parent }) => withPage && parent === step.number,
			);
			if (pageFetch) addPages(this.#sumOf(pageFetch), results);
		} else if (endedAt !== 0) {
			countError(record.errors, details.error, parents.length);
		}
	}

	#locate(
		shardsOfParents: Iterable<number>,
		statements: readonly Statement[],
	): Pick<
		ExplainStep,
		"shards" | "modShards" | "hosts" | "statements" | "rows"
	> {
		const { hostOf } = this.#options;
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
			statements: statements.map((one) => this.#explainStatement(one)),
			rows: sumRows(statements),
		};
	}

	#explainStatement(statement: Statement): ExplainStatement {
		const { sql, ...rest } = statement;
		return {
			...rest,
			sql: sql === undefined ? null : this.#textNumber(sql.text),
			parameters: sql?.parameters ?? [],
			shared:
				(statement.requests ?? 1) > 1 ||
				(this.#reporters.get(statement)?.size ?? 0) > 1,
		};
	}

	#textNumber(text: string): number {
		const number = this.#texts.get(text) ?? this.#texts.size;
		this.#texts.set(text, number);
		return number;
	}

	#explainWriteStep(
		{ path, field }: PlanStep,
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
			...this.#locate(record.shards, record.statements),
			cache: [],
			startMs: startedAt - this.#start,
			ms: endedAt === 0 ? 0 : endedAt - startedAt,
			write: explainWrite(record),
			steps: [],
		};
	}

	#explainStep(step: PlanStep): ExplainStep {
		const { kind, path, field, target, withPage } = step;
		const record = this.#sumOf(step);
		const { runs, parents, results, startedAt, endedAt } = record;
		return {
			kind,
			path,
			field,
			target,
			withPage,
			cost: this.#options.cost.steps.get(step.number) ?? 0,
			runs,
			parents,
			results,
			errors: [...record.errors.values()],
			hiddenEdges: record.hiddenEdges,
			...this.#locate(record.shards, record.statements),
			cache: [...record.cache].map(([layer, sum]) => ({ layer, ...sum })),
			startMs: Number.isFinite(startedAt) ? startedAt - this.#start : 0,
			ms: endedAt === 0 ? 0 : endedAt - startedAt,
			write: null,
			...(record.notes.length > 0 && { notes: record.notes }),
			steps: [
				...[...(this.#writes.get(step.number)?.values() ?? [])].map((write) =>
					this.#explainWriteStep(step, write),
				),
				...this.#explainBelow(step.number),
			],
		};
	}

	#explainBelow(parent: number | null): ExplainStep[] {
		return this.#steps
			.filter((step) => step.parent === parent)
			.map((step) => this.#explainStep(step));
	}
}

/** Each number once, the lowest first. */
function inOrder(numbers: readonly number[]): number[] {
	return [...new Set(numbers)].sort((a, b) => a - b);
}

function newSum(): StepSum {
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
		notes: [],
		cache: new Map(),
	};
}

function sumRows(statements: readonly Statement[]): number {
	return statements.reduce((sum, { rows }) => sum + rows, 0);
}

/** `result` is that of one parent. */
function addResult(record: StepSum, result: unknown): void {
	if (result instanceof Error) countError(record.errors, result, 1);
	else if (result !== null && result !== undefined) {
		record.results += edgesOf(result)?.length ?? 1;
	}
}

/** Null for what is not a page. */
export function edgesOf(result: unknown): readonly PageEdge[] | null {
	return typeof result === "object" && result !== null && "edges" in result
		? (result.edges as readonly PageEdge[])
		: null;
}

/** The objects of pages are the results of the fetch that the scan did along the way. */
function addPages(record: StepSum, pages: readonly unknown[]): void {
	record.runs++;
	for (const page of pages) {
		for (const { node } of edgesOf(page) ?? []) {
			record.parents++;
			addResult(record, node);
			addShardOf(record.shards, node);
		}
	}
}
