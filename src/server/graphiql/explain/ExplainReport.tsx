import type {
	ExplainOutput,
	ExplainStep,
} from "../../../plan/explain/explainOutput.ts";
import { formatMilliseconds, formatNumber } from "../../../util/format.ts";
import { CacheBar, CacheLegend, sumCaches } from "./Cache.tsx";
import type { ResponseError } from "./explainStore.ts";
import { Gauge } from "./Gauge.tsx";
import { Arrow, KINDS, KindMark } from "./KindMark.tsx";
import { ResponseErrors } from "./ResponseErrors.tsx";
import { StepNode } from "./StepNode.tsx";

/** One execution: its totals, its errors, then the tree of its steps. */
export function ExplainReport(props: {
	readonly output: ExplainOutput;
	readonly errors: readonly ResponseError[];
}) {
	const { output, errors } = props;
	const { cost, limit, ms, steps, sql } = output;
	const kinds = new Set(flatten(steps).map(({ kind }) => kind));
	const overLimit = cost > limit;
	return (
		<>
			<Summary output={output} />
			<ResponseErrors errors={errors} />
			{overLimit && (
				<p className="explain-over" role="alert">
					The cost is over the limit, so nothing was read. Request smaller pages
					or fewer fields where the cost is highest.
				</p>
			)}
			{steps.length === 0 ? (
				<p className="explain-over">
					No steps: the response comes from the schema alone.
				</p>
			) : (
				<>
					<div className="step-line explain-head" aria-hidden="true">
						<span>step</span>
						<span className="step-flow">
							in <Arrow /> out
						</span>
						<span className="step-cache">cache</span>
						<span className="step-cost">cost</span>
						<span className="step-time">time</span>
					</div>
					<ul className="steps" aria-label="Steps">
						{steps.map((step) => (
							<StepNode
								key={step.path}
								step={step}
								parent={null}
								total={{ ms, cost, overLimit, sql }}
							/>
						))}
					</ul>
				</>
			)}
			{steps.length > 0 && (
				<footer className="explain-kinds">
					{KINDS.filter(([kind]) => kinds.has(kind)).map(([kind, about]) => (
						<span key={kind} className={`kind-${kind}`}>
							<KindMark kind={kind} />
							<b>{kind}</b> {about}
						</span>
					))}
				</footer>
			)}
		</>
	);
}

function Summary({ output }: { readonly output: ExplainOutput }) {
	const { operation, cost, limit, ms, statements, rows, written } = output;
	const steps = flatten(output.steps);
	const cache = sumCaches(steps);
	const shards = new Set(steps.flatMap((step) => step.shards));
	const modShards = new Set(steps.flatMap((step) => step.modShards));
	const hosts = new Set(steps.flatMap((step) => step.hosts));
	// A failed write either fails its call too, or the outbox repeats it.
	const errors = steps
		.filter(({ kind }) => kind !== "write")
		.flatMap((step) => step.errors)
		.reduce((sum, { count }) => sum + count, 0);
	return (
		<header className="explain-sum">
			<h2>{operation}</h2>
			<Gauge cost={cost} limit={limit} />
			<dl>
				<div>
					<dt>time</dt>
					<dd>{formatMilliseconds(ms)}</dd>
				</div>
				<div>
					<dt>statements</dt>
					<dd>{formatNumber(statements)}</dd>
				</div>
				<div>
					<dt>rows</dt>
					<dd>{formatNumber(rows)}</dd>
				</div>
				{operation.startsWith("mutation") && (
					<div>
						<dt>written</dt>
						<dd>{formatNumber(written)}</dd>
					</div>
				)}
				{errors > 0 && (
					<div className="explain-errors">
						<dt>errors</dt>
						<dd>{formatNumber(errors)}</dd>
					</div>
				)}
				<div>
					<dt>shards</dt>
					<dd>{shards.size}</dd>
				</div>
				{modShards.size > 0 && (
					<div>
						<dt>mod shards</dt>
						<dd>{modShards.size}</dd>
					</div>
				)}
				<div title={[...hosts].join("\n")}>
					<dt>{hosts.size === 1 ? "host" : "hosts"}</dt>
					<dd>{hosts.size}</dd>
				</div>
			</dl>
			{cache.length > 0 && (
				<div className="explain-cache">
					<span className="explain-caption">read from</span>
					<CacheBar cache={cache} />
					<CacheLegend cache={cache} />
				</div>
			)}
		</header>
	);
}

function flatten(steps: readonly ExplainStep[]): ExplainStep[] {
	return steps.flatMap((step) => [step, ...flatten(step.steps)]);
}
