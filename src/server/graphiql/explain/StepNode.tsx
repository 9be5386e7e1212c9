import {
	describeErrors,
	describeFlow,
	describeShards,
	describeWrite,
	explainSurplus,
	WRITE_VERBS,
} from "../../../plan/explain/describeStep.ts";
import type { ExplainStep } from "../../../plan/explain/explainOutput.ts";
import {
	formatMilliseconds,
	formatNumber,
	plural,
} from "../../../util/format.ts";
import { CacheBar } from "./Cache.tsx";
import { formatShort, shortHost } from "./format.ts";
import { Arrow, KindMark } from "./KindMark.tsx";
import { StepDetails } from "./StepDetails.tsx";

/** In an operation over the limit, steps with more than this part of the cost are highlighted. */
const HIGH_COST = 0.2;

/** Totals of the whole operation. */
interface OperationTotal {
	/** The length of a full time bar. */
	readonly ms: number;
	readonly cost: number;
	/** If true, nothing was executed. */
	readonly overLimit: boolean;
	/** The texts that statements refer to. */
	readonly sql: readonly string[];
}

interface StepProps {
	readonly step: ExplainStep;
	/** The step whose result it needed. */
	readonly parent: ExplainStep | null;
	readonly total: OperationTotal;
}

/** A step and the steps below it. A fetch that the scan did along the way stands beside the scan. */
export function StepNode({ step, parent, total }: StepProps) {
	const pair = [step, ...step.steps.filter(({ withPage }) => withPage)];
	const below = pair.flatMap((one) =>
		one.steps
			.filter(({ withPage }) => !withPage)
			.map((child) => ({ child, above: one })),
	);
	return (
		<li>
			{pair.map((one) => (
				<details key={one.kind} className={`step kind-${one.kind}`}>
					<summary>
						<StepLine
							step={one}
							parent={one === step ? parent : step}
							total={total}
						/>
					</summary>
					<StepDetails step={one} sql={total.sql} />
				</details>
			))}
			{below.length > 0 && (
				<ul>
					{below.map(({ child, above }) => (
						<StepNode
							key={`${child.kind} ${child.path} ${child.target} ${child.write?.verb}`}
							step={child}
							parent={above}
							total={total}
						/>
					))}
				</ul>
			)}
		</li>
	);
}

function StepLine({ step, parent, total }: StepProps) {
	const { kind, path, target, withPage, cost, parents, results } = step;
	const { errors, write } = step;
	const { ms, overLimit } = total;
	const wasReached = step.runs > 0;
	const showsFlow = wasReached && (write === null || results > 0);
	const flow = describeFlow(step);
	return (
		<span className="step-line" data-ran={wasReached || overLimit}>
			<span className="step-name">
				<KindMark kind={kind} />
				<b>{path === parent?.path ? target : path.split(".").at(-1)}</b>
			</span>
			<span className="step-flow" title={flow}>
				{showsFlow && (
					<>
						<span className="unseen">{flow}</span>
						<span aria-hidden="true">
							{formatNumber(parents)} <Arrow /> {formatNumber(results)}
						</span>
					</>
				)}
			</span>
			<span className="step-cache">
				<CacheBar cache={step.cache} />
			</span>
			<span
				className="step-cost"
				data-high={overLimit && cost > HIGH_COST * total.cost}
			>
				<span className="unseen">cost </span>
				{cost === 0 ? "–" : formatShort(cost)}
			</span>
			<span className="step-time">
				{wasReached && !withPage && (
					<>
						<span className="time-bar" aria-hidden="true">
							<span
								style={{
									left: `${percent(step.startMs, ms)}%`,
									width: `${percent(step.ms, ms)}%`,
								}}
							/>
						</span>
						<span className="step-ms">{formatMilliseconds(step.ms)}</span>
					</>
				)}
			</span>
			<small className="step-how">
				{errors.length > 0 && (
					<strong>{describeErrors(errors).join(" · ")} · </strong>
				)}
				{[
					write === null ? `${kind} ${target}` : WRITE_VERBS[write.verb],
					...describeReads(step, overLimit),
				].join(" · ")}
			</small>
		</span>
	);
}

/** Statements with their rows, and the shards and hosts that received them. */
function describeReads(step: ExplainStep, overLimit: boolean): string[] {
	const { runs, withPage, write, statements, rows, hosts } = step;
	if (runs === 0) return overLimit ? [] : ["not reached"];
	if (withPage) return ["read with the scan"];
	const sent = plural(statements.length, "statement");
	const facts = [
		statements.length === 0
			? "no statement"
			: write === null
				? `${sent}, ${plural(rows, "row")}`
				: sent,
	];
	const on = describeShards(step, 1);
	if (on !== "") {
		facts.push(
			hosts.length === 1
				? `${on} on ${shortHost(hosts[0] as string)}`
				: `${on} on ${plural(hosts.length, "host")}`,
		);
	}
	if (write !== null) return [...facts, ...describeWrite(write)];
	return [...facts, ...explainSurplus(step).map(({ fact }) => fact)];
}

function percent(ms: number, total: number): number {
	return total === 0 ? 0 : Math.min(100, (ms / total) * 100);
}
