import {
	count,
	describeErrors,
	describeWrite,
	WRITE_VERBS,
} from "./describeWrite.ts";
import type { ExplainStep, ExplainWithErrors } from "./explainRecorder.ts";

/**
 * An explained operation for a terminal: a line for what each step is and one
 * for what it did, indented under the step whose answer it needed.
 */
export function printExplain(explained: ExplainWithErrors): string {
	const { operation, cost, limit, ms, statements, rows } = explained;
	const lines = [
		`${operation}: cost ${cost} of at most ${limit}, ${count(statements, "statement")}, ${count(rows, "row")}, ${time(ms)}`,
		...tree(explained.steps),
	];
	for (const { code, path, message } of explained.errors) {
		lines.push(`! ${[code, path].filter(Boolean).join(" at ")}: ${message}`);
	}
	return lines.join("\n");
}

function tree(steps: readonly ExplainStep[]): string[] {
	return steps.flatMap((step, at) => {
		const isLast = at === steps.length - 1;
		const [first, ...further] = [...described(step), ...tree(step.steps)];
		return [
			`${isLast ? "└─" : "├─"} ${first}`,
			...further.map((line) => `${isLast ? "  " : "│ "} ${line}`),
		];
	});
}

function described(step: ExplainStep): string[] {
	const bar = step.steps.length > 0 ? "│ " : "  ";
	const what = `${step.kind.padEnd(5)} ${step.path}  ${step.target}  cost ${step.cost}`;
	if (step.runs === 0) return [`${what}  not reached`];
	const did = [
		`${count(step.parents, PARENTS[step.kind])} → ${count(step.results, ANSWERS[step.kind])}`,
		...describeErrors(step.errors),
		...places(step),
		...(step.withPage
			? ["with the scan"]
			: [
					...step.cache
						.filter(({ hits, misses }) => hits + misses > 0)
						.map(
							({ layer, hits, misses }) => `${layer} ${hits}/${hits + misses}`,
						),
					...statements(step),
					...(step.write === null
						? []
						: [WRITE_VERBS[step.write.verb], ...describeWrite(step.write)]),
					time(step.ms),
				]),
	];
	return [what, `${bar}   ${did.join(" · ")}`];
}

const PARENTS = { scan: "list", fetch: "id", call: "parent", write: "write" };
const ANSWERS = { scan: "edge", fetch: "object", call: "value", write: "row" };

/** More shards than this are counted: a hundred objects are on as many. */
const SHOWN = 6;

function places({ shards, hosts }: ExplainStep): string[] {
	if (shards.length === 0) return [];
	const on =
		shards.length > SHOWN
			? count(shards.length, "shard")
			: `shard ${shards.join(" ")}`;
	const at =
		hosts.length > SHOWN ? count(hosts.length, "host") : hosts.join(" ");
	return [at === "" ? on : `${on} on ${at}`];
}

function statements(step: ExplainStep): string[] {
	if (step.statements.length === 0) return ["no statement"];
	const byName = new Map<string, { times: number; rows: number }>();
	for (const { name, rows, shared } of step.statements) {
		const label = shared ? `${name} (shared)` : name;
		const sum = byName.get(label) ?? { times: 0, rows: 0 };
		byName.set(label, { times: sum.times + 1, rows: sum.rows + rows });
	}
	return [...byName].map(
		([label, { times, rows }]) =>
			`${times === 1 ? "" : `${times} × `}${label}, ${count(rows, "row")}`,
	);
}

function time(ms: number): string {
	return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}
