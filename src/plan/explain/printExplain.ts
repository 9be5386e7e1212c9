import type { GraphQLError } from "graphql";
import { formatMilliseconds, formatNumber, plural } from "../../util/format.ts";
import {
	describeErrors,
	describeFlow,
	describeShards,
	describeWrite,
	explainSurplus,
	WRITE_VERBS,
} from "./describeStep.ts";
import type { ExplainOutput, ExplainStep } from "./explainOutput.ts";

/**
 * Explain output for a terminal. Each step takes two lines, what it is and what
 * it did, and stands below the step whose result it needed.
 */
export function printExplain(
	{ operation, cost, limit, statements, rows, ms, steps }: ExplainOutput,
	errors: readonly GraphQLError[] = [],
): string {
	return [
		`${operation}: cost ${formatNumber(cost)} of ${formatNumber(limit)}, ${plural(statements, "statement")}, ${plural(rows, "row")}, ${formatMilliseconds(ms)}`,
		...printTree(steps),
		...errors.map(printError),
	].join("\n");
}

function printError({ message, path = [], extensions }: GraphQLError): string {
	const position = path.length === 0 ? "" : ` at ${path.join(".")}`;
	return `! ${extensions.code}${position}: ${message}`;
}

function printTree(steps: readonly ExplainStep[]): string[] {
	return steps.flatMap((step, index) => {
		const isLast = index === steps.length - 1;
		const [first, ...rest] = [...printStep(step), ...printTree(step.steps)];
		return [
			`${isLast ? "└─" : "├─"} ${first}`,
			...rest.map((line) => `${isLast ? "  " : "│ "} ${line}`),
		];
	});
}

function printStep(step: ExplainStep): string[] {
	const { kind, path, target, cost, write } = step;
	const head = `${kind.padEnd(5)} ${path}  ${target}  cost ${formatNumber(cost)}`;
	if (step.runs === 0) return [`${head}  not reached`];
	const facts = [
		describeFlow(step),
		...describeErrors(step.errors),
		...describeLocation(step),
	];
	if (step.withPage) facts.push("read with the scan");
	else {
		facts.push(...describeCaches(step), ...describeStatements(step));
		facts.push(...explainSurplus(step).map(({ fact }) => fact));
		if (write !== null) {
			facts.push(WRITE_VERBS[write.verb], ...describeWrite(write));
		}
		facts.push(formatMilliseconds(step.ms));
	}
	const bar = step.steps.length > 0 ? "│ " : "  ";
	return [head, ...(step.notes ?? []), facts.join(" · ")].map((line, at) =>
		at === 0 ? line : `${bar}   ${line}`,
	);
}

/** Above this number, shards and hosts are counted rather than listed. */
const MAX_LISTED = 6;

function describeLocation(step: ExplainStep): string[] {
	const { hosts } = step;
	const on = describeShards(step, MAX_LISTED);
	if (on === "") return [];
	const at =
		hosts.length > MAX_LISTED ? plural(hosts.length, "host") : hosts.join(" ");
	return [at === "" ? on : `${on} on ${at}`];
}

function describeCaches({ cache }: ExplainStep): string[] {
	return cache
		.filter(({ hits, misses }) => hits + misses > 0)
		.map(({ layer, hits, misses }) => `${layer} ${hits}/${hits + misses} hits`);
}

function describeStatements({ statements }: ExplainStep): string[] {
	if (statements.length === 0) return ["no statement"];
	const byName = new Map<string, { times: number; rows: number }>();
	for (const { name, rows, shared } of statements) {
		const label = shared ? `${name} (shared)` : name;
		const sum = byName.get(label) ?? { times: 0, rows: 0 };
		byName.set(label, { times: sum.times + 1, rows: sum.rows + rows });
	}
	return [...byName].map(
		([label, { times, rows }]) =>
			`${times === 1 ? "" : `${times} × `}${label}, ${plural(rows, "row")}`,
	);
}
