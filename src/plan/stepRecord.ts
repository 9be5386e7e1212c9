import type {
	CacheLayer,
	Span,
	SpanAttributes,
	Statement,
	Trace,
	WriteDescription,
	WriteTrace,
} from "../diagnostics.ts";
import { asCorkboardError } from "../errors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Step } from "./plan.ts";
import type { StepTrace } from "./stepRunner.ts";

/** What caches said to one step. */
export interface CacheAnswers {
	readonly layer: CacheLayer;
	readonly hits: number;
	readonly misses: number;
}

/** A call to a host that failed. */
export interface HostFailure {
	readonly host: string;
	readonly failure: string;
	readonly ms: number;
}

export type StartWrite = (
	step: StepRecord,
	description: WriteDescription,
) => WriteTrace;

/**
 * One run of a step, as it happens. Every request may be recorded, so this only
 * keeps what it is given: nothing is summed up before somebody asks for it.
 */
export class StepRecord implements StepTrace, Trace {
	readonly step: Step;
	readonly parents: readonly unknown[];
	readonly isBrief: boolean;
	readonly span: Span | null;
	/** 0 where nobody needs the time: of a brief record, until the step waits for something. Most steps answer from memory, and reading the clock would be a part of their time. */
	startedAt: number;
	/** 0 while it runs. */
	endedAt = 0;
	/** One for each parent; null while it runs, or where it failed for all. */
	results: readonly unknown[] | null = null;
	error: unknown;
	edgesHidden = 0;
	statements: Statement[] | null = null;
	answers: CacheAnswers[] | null = null;
	failures: HostFailure[] | null = null;
	readonly #startWrite: StartWrite;

	constructor(
		step: Step,
		parents: readonly unknown[],
		isBrief: boolean,
		parent: Span | null,
		startWrite: StartWrite,
	) {
		this.step = step;
		this.parents = parents;
		this.isBrief = isBrief;
		this.#startWrite = startWrite;
		this.startedAt = isBrief && parent === null ? 0 : performance.now();
		this.span =
			parent === null
				? null
				: parent.start(
						`${step.kind} ${step.target}`,
						"internal",
						attributesOf(step),
						this.startedAt,
					);
	}

	get trace(): Trace {
		return this;
	}

	statement(statement: Statement): void {
		this.statements ??= [];
		this.statements.push(statement);
	}

	failure(host: string, failure: string, ms: number): void {
		this.failures ??= [];
		this.failures.push({ host, failure, ms });
	}

	cache(layer: CacheLayer, hits: number, misses: number): void {
		this.answers ??= [];
		this.answers.push({ layer, hits, misses });
	}

	hiddenEdges(count: number): void {
		this.edgesHidden += count;
	}

	startWrite(description: WriteDescription): WriteTrace {
		return this.#startWrite(this, description);
	}

	wait(): void {
		if (this.startedAt === 0) this.startedAt = performance.now();
	}

	end(results: readonly unknown[]): void {
		if (this.startedAt !== 0) this.endedAt = performance.now();
		this.results = results;
		this.span?.end(null, this.#outcome());
	}

	fail(error: unknown): void {
		this.endedAt = performance.now();
		this.error = error;
		this.span?.end(asCorkboardError(error).code, this.#outcome());
	}

	#outcome(): SpanAttributes {
		const shards = new Set<number>();
		for (const parent of this.parents) addShardOf(shards, parent);
		let rows = 0;
		for (const statement of this.statements ?? []) {
			rows += statement.rows;
			if (statement.onModShard === undefined) shards.add(statement.shard);
		}
		const sums: Record<string, number> = {};
		for (const { layer, hits, misses } of this.answers ?? []) {
			const name = `corkboard.cache.${layer}`;
			sums[`${name}.hits`] = (sums[`${name}.hits`] ?? 0) + hits;
			sums[`${name}.misses`] = (sums[`${name}.misses`] ?? 0) + misses;
		}
		const failed = this.results?.find((result) => result instanceof Error);
		return {
			"corkboard.step.parents": this.parents.length,
			"corkboard.step.rows": rows,
			"corkboard.step.hidden_edges": this.edgesHidden || undefined,
			"corkboard.shards": [...shards]
				.sort((a, b) => a - b)
				.slice(0, MAX_SHARDS),
			"corkboard.shards.count": shards.size,
			...sums,
			// The step went on, without these.
			"corkboard.step.error":
				failed === undefined ? undefined : asCorkboardError(failed).code,
		};
	}
}

/** Of one span: an operation may reach thousands. */
const MAX_SHARDS = 20;

function attributesOf({ kind, path, field, target }: Step): SpanAttributes {
	return {
		"graphql.field.path": path,
		"graphql.field.coordinate": field,
		"corkboard.step.kind": kind,
		[kind === "scan" ? "corkboard.mapping" : "corkboard.target"]: target,
	};
}

/** `parent` is an id, an object with an id, or null at the root. */
export function addShardOf(shards: Set<number>, parent: unknown): void {
	if (typeof parent === "string") shards.add(unpackId(parent as Id).shard);
	else if (typeof parent === "object" && parent !== null && "id" in parent) {
		shards.add(unpackId(parent.id as Id).shard);
	}
}
