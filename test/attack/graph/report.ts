import type { Violation } from "./checks.ts";
import type { Session, Statistics } from "./session.ts";

export interface AttackResult {
	readonly seed: number;
	readonly seconds: number;
	/** Whether the last comparison took place; not if a promise was broken, or somebody ended the run. */
	readonly isComplete: boolean;
	readonly faults: number;
	/** Moves of shards that were begun. */
	readonly moves: number;
	readonly statistics: Statistics;
	readonly largestServerMb: number;
	readonly violations: readonly (Violation & { readonly text: string })[];
}

const EVENTS = 30;
/** Faults so long before a violation belong to its story. Milliseconds. */
const FAULTS_MS = 60_000;

/** All that one needs to find the cause: promise, sight, history of the objects, faults around it. */
export function describeViolation(
	violation: Violation,
	seed: number,
	session: Session | undefined,
): string {
	const { kind, promised, seen, objects } = violation;
	const lines = [
		`VIOLATION (${kind}), seed ${seed}${session ? `, at ${seconds(session.timeline.now())}` : ""}`,
		`  promised: ${promised}`,
		`  seen:     ${seen}`,
	];
	if (session === undefined) return lines.join("\n");
	const { model, timeline } = session;
	const history = model.operations
		.filter((operation) => {
			const about = [
				...operation.objects,
				...objects.filter((id) => {
					const thing = model.byId(id);
					return thing?.create === operation;
				}),
			];
			return about.some((id) => objects.includes(id));
		})
		.slice(-EVENTS);
	lines.push(`  history of ${[...new Set(objects)].join(", ") || "nothing"}:`);
	for (const operation of history) {
		const { invokedAt, endedAt, outcome, process, name, detail } = operation;
		const end = Number.isFinite(endedAt) ? seconds(endedAt) : "…";
		const created = [...model.bySerial.values()].find(
			({ create }) => create === operation,
		);
		const what = created ? `${name} ${created.id}: ${detail}` : detail;
		lines.push(
			`    ${seconds(invokedAt)}–${end} ${process} ${outcome}: ${what}`,
		);
	}
	lines.push("  faults:");
	const since = timeline.now() - FAULTS_MS;
	for (const { from, to, what } of timeline.faults) {
		if (to !== null && to < since) continue;
		lines.push(
			`    ${seconds(from)}–${to === null ? "…" : seconds(to)} ${what}`,
		);
	}
	return lines.join("\n");
}

export function summary(result: AttackResult): readonly string[] {
	const { statistics, violations } = result;
	return [
		`seed ${result.seed}: ${result.seconds} s, ${result.faults} faults, ${result.moves} moves of shards, ${statistics.requests} requests, ${statistics.reads} reads, ${statistics.pages} pages, ${statistics.writes} writes (${statistics.acknowledged} acknowledged, ${statistics.unknown} of unknown outcome, ${statistics.refused} refused)`,
		`slowest answer ${Math.round(statistics.slowest.ms)} ms (${statistics.slowest.what}); largest server ${result.largestServerMb} MB`,
		violations.length === 0
			? `no promise was broken${result.isComplete ? "" : "; the run was interrupted, and the whole graph was not compared"}`
			: `${violations.length} promises were broken: ${violations.map(({ kind }) => kind).join(", ")}`,
	];
}

function seconds(ms: number): string {
	return `${(ms / 1_000).toFixed(3)} s`;
}
