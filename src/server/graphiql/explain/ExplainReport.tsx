import type {
	ExplainOutput,
	ExplainStep,
} from "../../../plan/explainRecorder.ts";
import { CacheBar, CacheLegend, sumCaches } from "./Cache.tsx";
import { count, time } from "./format.ts";
import { Gauge } from "./Gauge.tsx";
import { Arrow, KINDS, KindMark } from "./KindMark.tsx";
import { StepNode } from "./StepNode.tsx";

/** One run at a glance: what it cost in all, then the tree of its steps. */
export function ExplainReport({
	account,
}: {
	readonly account: ExplainOutput;
}) {
	const { operation, cost, limit, ms, statements, rows, written, steps } =
		account;
	const over = cost > limit;
	const cache = sumCaches(steps);
	const shards = new Set(all(steps).flatMap(({ shards }) => shards));
	// A write that failed is the reason of a call that did, or stays owed.
	const failed = all(steps)
		.filter(({ kind }) => kind !== "write")
		.flatMap(({ errors: failures }) => failures)
		.reduce((sum, { count }) => sum + count, 0);
	const hosts = new Set(all(steps).flatMap(({ hosts }) => hosts));
	return (
		<>
			<header className="explain-sum">
				<h2>{operation}</h2>
				<Gauge cost={cost} limit={limit} />
				<dl>
					<div>
						<dt>time</dt>
						<dd>{time(ms)}</dd>
					</div>
					<div>
						<dt>statements</dt>
						<dd>{statements}</dd>
					</div>
					<div>
						<dt>rows</dt>
						<dd>{rows.toLocaleString("en")}</dd>
					</div>
					{operation.startsWith("mutation") && (
						<div>
							<dt>written</dt>
							<dd>{written.toLocaleString("en")}</dd>
						</div>
					)}
					{failed > 0 && (
						<div className="explain-failed">
							<dt>failed</dt>
							<dd>{failed.toLocaleString("en")}</dd>
						</div>
					)}
					<div title={[...hosts].join("\n")}>
						<dt>shards</dt>
						<dd>
							{shards.size}
							<small> on {count(hosts.size, "host")}</small>
						</dd>
					</div>
				</dl>
				{cache.length > 0 && (
					<div className="explain-cache">
						<span className="explain-caption">answered by</span>
						<CacheBar cache={cache} />
						<CacheLegend cache={cache} />
					</div>
				)}
			</header>
			{over && (
				<p className="explain-over" role="alert">
					Refused before anything was read: it costs more than the limit. Ask
					for less where the cost is highest.
				</p>
			)}
			{steps.length === 0 ? (
				<p className="explain-over">
					Nothing was read: the schema itself answers this.
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
								whole={{ ms, cost, over }}
							/>
						))}
					</ul>
				</>
			)}
			<footer className="explain-kinds">
				{Object.entries(KINDS).map(([kind, about]) => (
					<span key={kind} className={`kind-${kind}`}>
						<KindMark kind={kind as keyof typeof KINDS} />
						<b>{kind}</b> {about}
					</span>
				))}
			</footer>
		</>
	);
}

function all(steps: readonly ExplainStep[]): ExplainStep[] {
	return steps.flatMap((step) => [step, ...all(step.steps)]);
}
