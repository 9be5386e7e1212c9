import type { ExplainStep } from "../../plan/explain/explainOutput.ts";
import type { RecordedOperation } from "../../plan/explain/explainRecorder.ts";
import type { RequestCompleted } from "../diagnostics.ts";

/** Most steps of one event: an operation may have hundreds. */
const MAX_STEPS = 30;
const MAX_HOSTS = 20;
const MAX_STATEMENTS = 5;
const MAX_ERRORS = 10;
/** Characters of a path, whose names a client chooses. */
const MAX_PATH = 120;

/** What a request was and how it ended, without a value that a client sent. */
export function describeRequest(
	request: RequestCompleted,
): Readonly<Record<string, unknown>> {
	const { requestId, traceId, errorIds, operation, codes } = request;
	return {
		reqId: requestId,
		...(traceId !== null && { traceId }),
		...(errorIds.length > 0 && { errorIds: errorIds.slice(0, MAX_ERRORS) }),
		document: request.sha256,
		operation: operation === null ? null : operation.slice(0, MAX_PATH),
		way: request.way,
		status: request.status,
		...(codes.length > 0 && {
			codes: [...new Set(codes)].slice(0, MAX_ERRORS),
		}),
		ms: Math.round(request.ms),
		cost: request.cost,
	};
}

/** What its operation did, the slowest steps of it, in the order of the plan. */
export function describeOperation({
	explain,
	hosts,
	variables,
}: RecordedOperation): Readonly<Record<string, unknown>> {
	const steps = [...flatten(explain.steps, 0)].filter(
		({ step }) => step.runs > 0,
	);
	const slowest = new Set(
		steps.toSorted((a, b) => b.step.ms - a.step.ms).slice(0, MAX_STEPS),
	);
	return {
		// The log redacts what is called variables.
		shapes: variables,
		statements: explain.statements,
		rows: explain.rows,
		hosts: hosts.slice(0, MAX_HOSTS).map((host) => ({
			...host,
			ms: rounded(host.ms),
			waitedMs: rounded(host.waitedMs),
			failures: host.failures.slice(0, MAX_ERRORS),
		})),
		steps: steps.filter((one) => slowest.has(one)).map(describeStep),
		...(steps.length > MAX_STEPS && {
			stepsLeftOut: steps.length - MAX_STEPS,
		}),
	};
}

interface DeepStep {
	readonly step: ExplainStep;
	readonly depth: number;
}

function* flatten(
	steps: readonly ExplainStep[],
	depth: number,
): Generator<DeepStep> {
	for (const step of steps) {
		yield { step, depth };
		yield* flatten(step.steps, depth + 1);
	}
}

function describeStep({ step, depth }: DeepStep) {
	const { kind, target, path, startMs, ms, parents, results, rows } = step;
	const names = new Map<string, number>();
	for (const { name } of step.statements) {
		names.set(name, (names.get(name) ?? 0) + 1);
	}
	const asked = step.cache.filter(({ hits, misses }) => hits + misses > 0);
	return {
		depth,
		step: `${kind} ${target}`.slice(0, MAX_PATH),
		path: path.slice(0, MAX_PATH),
		startMs: rounded(startMs),
		ms: rounded(ms),
		parents,
		results,
		...(names.size > 0 && {
			rows,
			hosts: step.hosts.slice(0, MAX_HOSTS),
			statements: Object.fromEntries([...names].slice(0, MAX_STATEMENTS)),
		}),
		...(asked.length > 0 && {
			cache: Object.fromEntries(
				asked.map(({ layer, hits, misses }) => [
					layer,
					`${hits} of ${hits + misses}`,
				]),
			),
		}),
		...(step.errors.length > 0 && {
			errors: step.errors.slice(0, MAX_ERRORS),
		}),
	};
}

function rounded(ms: number): number {
	return Math.round(ms * 10) / 10;
}
