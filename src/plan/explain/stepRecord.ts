import { asCorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type {
	CacheLayer,
	Span,
	SpanAttributes,
	Statement,
	Trace,
	WriteDescription,
	WriteTrace,
} from "../../trace.ts";
import type { OperationDeadline } from "../../util/deadline.ts";
import type { StepTrace } from "../execute/stepRunner.ts";
import type { PlanStep } from "../plan.ts";

/** What caches said to one step. */
interface CacheAnswers {
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

/** What all steps of one recorded execution share. */
export interface StepRecorder {
	/** As in `Trace`. */
	readonly isBrief: boolean;
	/** The span of the request; null if it is not sampled. */
	readonly span: Span | null;
	startWrite(step: StepRecord, description: WriteDescription): WriteTrace;
}

/** What most steps have nothing of: they answer from memory. */
class StepDetails {
	/** 0 if nobody needs the time: of a brief record, until the step waits for something. Reading the clock would be a part of its time. */
	startedAt = 0;
	/** 0 while it runs. */
	endedAt = 0;
	error: unknown;
	edgesHidden = 0;
	span: Span | null = null;
	readonly statements: Statement[] = [];
	readonly answers: CacheAnswers[] = [];
	readonly failures: HostFailure[] = [];
	readonly notes: string[] = [];
}

const NO_DETAILS: Readonly<StepDetails> = new StepDetails();

/**
 * One run of a step, as it happens, and the options of its calls. Every request
 * may be recorded, so this only keeps what it is given: nothing is summed up
 * before somebody asks for it, and a step that answers from memory takes one
 * small object.
 */
export class StepRecord implements StepTrace, Trace {
	readonly step: PlanStep;
	readonly parents: readonly unknown[];
	/** One for each parent; null while it runs, or if it failed for all. */
	results: readonly unknown[] | null = null;
	readonly #recorder: StepRecorder;
	readonly #deadline: OperationDeadline | undefined;
	/** What the process had, as long as nothing else answered; null if it was not asked. */
	#processHits: number | null = null;
	#details: StepDetails | null = null;

	constructor(
		recorder: StepRecorder,
		step: PlanStep,
		parents: readonly unknown[],
		deadline: OperationDeadline | undefined,
	) {
		this.#recorder = recorder;
		this.step = step;
		this.parents = parents;
		this.#deadline = deadline;
		const { isBrief, span } = recorder;
		if (isBrief && span === null) return;
		const details = this.#detail();
		details.startedAt = performance.now();
		details.span =
			span?.start(
				`${step.kind} ${step.target}`,
				"internal",
				attributesOf(step),
				details.startedAt,
			) ?? null;
	}

	get signal(): AbortSignal | undefined {
		return this.#deadline?.signal;
	}

	get trace(): Trace {
		return this;
	}

	get isBrief(): boolean {
		return this.#recorder.isBrief;
	}

	get span(): Span | null {
		return this.#details === null ? null : this.#details.span;
	}

	get details(): Readonly<StepDetails> {
		return this.#details ?? NO_DETAILS;
	}

	/** In the order in which they came. */
	get answers(): readonly CacheAnswers[] {
		const { answers } = this.details;
		const hits = this.#processHits;
		return hits === null
			? answers
			: [{ layer: "process", hits, misses: 0 }, ...answers];
	}

	#detail(): StepDetails {
		this.#details ??= new StepDetails();
		return this.#details;
	}

	statement(statement: Statement): void {
		this.#detail().statements.push(statement);
	}

	failure(host: string, failure: string, ms: number): void {
		this.#detail().failures.push({ host, failure, ms });
	}

	cache(layer: CacheLayer, hits: number, misses: number): void {
		if (layer === "process" && misses === 0 && !this.#details?.answers.length) {
			this.#processHits = (this.#processHits ?? 0) + hits;
		} else {
			this.#detail().answers.push({ layer, hits, misses });
		}
	}

	hiddenEdges(count: number): void {
		if (count > 0) this.#detail().edgesHidden += count;
	}

	note(text: string): void {
		this.#detail().notes.push(text);
	}

	startWrite(description: WriteDescription): WriteTrace {
		return this.#recorder.startWrite(this, description);
	}

	wait(): void {
		const details = this.#detail();
		if (details.startedAt === 0) details.startedAt = performance.now();
	}

	end(results: readonly unknown[]): void {
		this.results = results;
		const details = this.#details;
		if (details === null) return;
		if (details.startedAt !== 0) details.endedAt = performance.now();
		details.span?.end(null, this.#outcome());
	}

	fail(error: unknown): void {
		const details = this.#detail();
		details.endedAt = performance.now();
		details.error = error;
		details.span?.end(asCorkboardError(error).code, this.#outcome());
	}

	#outcome(): SpanAttributes {
		const shards = new Set<number>();
		for (const parent of this.parents) addShardOf(shards, parent);
		let rows = 0;
		const { statements, edgesHidden } = this.details;
		for (const statement of statements) {
			rows += statement.rows;
			if (statement.onModShard === undefined) shards.add(statement.shard);
		}
		const sums: Record<string, number> = {};
		for (const { layer, hits, misses } of this.answers) {
			const name = `corkboard.cache.${layer}`;
			sums[`${name}.hits`] = (sums[`${name}.hits`] ?? 0) + hits;
			sums[`${name}.misses`] = (sums[`${name}.misses`] ?? 0) + misses;
		}
		const failed = this.results?.find((result) => result instanceof Error);
		return {
			"corkboard.step.parents": this.parents.length,
			"corkboard.step.rows": rows,
			"corkboard.step.hidden_edges": edgesHidden || undefined,
			"corkboard.shards": [...shards]
				.sort((a, b) => a - b)
				.slice(0, MAX_SHARDS),
			"corkboard.shards.count": shards.size,
			...sums,
			// The step continued, without these.
			"corkboard.step.error":
				failed === undefined ? undefined : asCorkboardError(failed).code,
		};
	}
}

/** Most shards of one span: an operation may reach thousands. */
const MAX_SHARDS = 20;

function attributesOf({ kind, path, field, target }: PlanStep): SpanAttributes {
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
