import type { Span, WriteDescription, WriteTrace } from "../../trace.ts";
import type { OperationDeadline } from "../../util/deadline.ts";
import type { BoundPlan } from "../boundPlan.ts";
import type { OperationRecord } from "../diagnostics.ts";
import type { Tracer } from "../execute/stepRunner.ts";
import type { PlanStep } from "../plan.ts";
import type { ExplainOutput } from "./explainOutput.ts";
import {
	type CostAndLimit,
	type ExplainOptions,
	edgesOf,
	explainRuns,
	type Writes,
} from "./explainRuns.ts";
import { StepRecord, type StepRecorder } from "./stepRecord.ts";
import { variableShapes } from "./variableShapes.ts";
import {
	newWriteRecord,
	traceWrite,
	type WriteRecord,
	writeRecordKey,
} from "./writeRecord.ts";

/** What an operation did, as logs and `explain --trace` show it. */
export interface RecordedOperation {
	readonly explain: ExplainOutput;
	readonly hosts: readonly HostTime[];
	/** By name, without a value. */
	readonly variables: Readonly<Record<string, string>>;
}

interface HostTime {
	readonly host: string;
	readonly statements: number;
	/** The time of the round trips. They may have run side by side. */
	readonly ms: number;
	/** The part of it that was spent waiting for a connection. */
	readonly waitedMs: number;
	/** Calls that failed, by kind. */
	readonly failures: readonly string[];
}

interface RecorderOptions extends ExplainOptions, CostAndLimit {
	/** As in `Trace`. */
	readonly isBrief: boolean;
	/** The span of the request; null if it is not sampled. */
	readonly span: Span | null;
}

/** Records one execution. What was recorded is put together when somebody asks for it. */
export class ExplainRecorder implements Tracer, StepRecorder, OperationRecord {
	readonly #plan: BoundPlan["plan"];
	/** Null after the end: they may be large, and are not to be kept. */
	#variables: BoundPlan["variables"] | null;
	#shapes: RecordedOperation["variables"] = {};
	readonly #options: RecorderOptions;
	readonly #start = performance.now();
	/** Null while it runs. */
	#endedAt: number | null = null;
	readonly #runs: StepRecord[] = [];
	#writes: Map<number, Map<string, WriteRecord>> | null = null;

	constructor(bound: BoundPlan, options: RecorderOptions) {
		this.#plan = bound.plan;
		this.#variables = bound.variables;
		this.#options = options;
	}

	get isBrief(): boolean {
		return this.#options.isBrief;
	}

	get span(): Span | null {
		return this.#options.span;
	}

	start(
		step: PlanStep,
		parents: readonly unknown[],
		deadline: OperationDeadline | undefined,
	): StepRecord {
		const run = new StepRecord(this, step, parents, deadline);
		this.#runs.push(run);
		return run;
	}

	startWrite(
		{ step, span }: StepRecord,
		description: WriteDescription,
	): WriteTrace {
		this.#writes ??= new Map();
		const ofStep = this.#writes.get(step.number) ?? new Map();
		this.#writes.set(step.number, ofStep);
		const key = writeRecordKey(description);
		const write = ofStep.get(key) ?? newWriteRecord(description);
		ofStep.set(key, write);
		return traceWrite(write, description, {
			field: step.field,
			isBrief: this.isBrief,
			parent: span,
		});
	}

	end(): void {
		this.#endedAt = performance.now();
		this.#shapes = this.#shapesNow();
		this.#variables = null;
	}

	#shapesNow(): RecordedOperation["variables"] {
		if (this.#variables === null) return this.#shapes;
		const { variableDefinitions = [] } = this.#plan.operation;
		return variableShapes(variableDefinitions, this.#variables);
	}

	get heldBytes(): number {
		let results = 0;
		for (const run of this.#runs) {
			results += run.parents.length + run.details.statements.length;
			for (const result of run.results ?? []) {
				results += 1 + (edgesOf(result)?.length ?? 0);
			}
		}
		return RUN_BYTES * this.#runs.length + RESULT_BYTES * results;
	}

	/** Everything recorded until now. */
	output(): ExplainOutput {
		const { steps, operation } = this.#plan;
		return explainRuns(
			steps,
			[operation.operation, operation.name?.value].filter(Boolean).join(" "),
			this.#runs,
			this.#writes ?? new Map(),
			this.#start,
			this.#endedAt ?? performance.now(),
			this.#options,
		);
	}

	recorded(): RecordedOperation {
		return {
			explain: this.output(),
			hosts: hostTimes(this.#runs, this.#writes ?? new Map()),
			variables: this.#shapesNow(),
		};
	}
}

/** What one run of a step takes, with its statements' own share. */
const RUN_BYTES = 400;
/** What a result takes with its object, which may have left the caches since. For an id or a statement it is too much. */
const RESULT_BYTES = 600;

/** What the execution waited for, by host, the longest first. */
function hostTimes(
	runs: readonly StepRecord[],
	writes: Writes,
): readonly HostTime[] {
	const sources = [
		...runs.map(({ details }) => details),
		...[...writes.values()].flatMap((some) => [...some.values()]),
	];
	const statements = new Set(sources.flatMap(({ statements }) => statements));
	const times = new Map<
		string,
		{ statements: number; ms: number; waitedMs: number; failures: string[] }
	>();
	const timeOf = (host: string) => {
		const time = times.get(host) ?? {
			statements: 0,
			ms: 0,
			waitedMs: 0,
			failures: [],
		};
		times.set(host, time);
		return time;
	};
	for (const { host, ms, waitedMs = 0 } of statements) {
		const time = timeOf(host);
		time.statements++;
		time.ms += ms + waitedMs;
		time.waitedMs += waitedMs;
	}
	for (const { host, failure, ms } of sources.flatMap(
		({ failures }) => failures,
	)) {
		const time = timeOf(host);
		time.ms += ms;
		time.failures.push(failure);
	}
	return [...times]
		.map(([host, time]) => ({ host, ...time }))
		.sort((a, b) => b.ms - a.ms);
}
