import {
	describeErrors,
	describeWrite,
	WRITE_VERBS,
} from "../../../plan/describeWrite.ts";
import type { ExplainStep } from "../../../plan/explainRecorder.ts";
import { CacheBar } from "./Cache.tsx";
import { count, short, shortHost, time } from "./format.ts";
import { Arrow, KindMark } from "./KindMark.tsx";
import { StepDetails } from "./StepDetails.tsx";

const PARENTS = { scan: "list", fetch: "id", call: "parent", write: "write" };
const ANSWERS = { scan: "edge", fetch: "object", call: "value", write: "row" };

/** This part of a cost that is over the limit is pointed out. */
const MUCH = 0.2;

/** Of the operation that a step is part of. */
export interface Whole {
	/** What bars are relative to. */
	readonly ms: number;
	readonly cost: number;
	/** Over the limit: nothing was run. */
	readonly over: boolean;
}

interface Shown {
	readonly step: ExplainStep;
	/** The step whose answer it needed. */
	readonly parent: ExplainStep | null;
	readonly whole: Whole;
}

/** A step with those that needed its answer. Objects that came with their page stand beside it, not below. */
export function StepNode({ step, parent, whole }: Shown) {
	const pair = [step, ...step.steps.filter(({ withPage }) => withPage)];
	const below = pair.flatMap((one) =>
		one.steps
			.filter(({ withPage }) => !withPage)
			.map((child) => ({ child, of: one })),
	);
	return (
		<li>
			{pair.map((one) => (
				<details key={one.kind} className={`step kind-${one.kind}`}>
					<summary>
						<Line
							step={one}
							parent={one === step ? parent : step}
							whole={whole}
						/>
					</summary>
					<StepDetails step={one} />
				</details>
			))}
			{below.length > 0 && (
				<ul>
					{below.map(({ child, of }) => (
						<StepNode
							key={`${child.kind} ${child.path} ${child.target} ${child.write?.verb}`}
							step={child}
							parent={of}
							whole={whole}
						/>
					))}
				</ul>
			)}
		</li>
	);
}

function Line({ step, parent, whole }: Shown) {
	const { ms, over } = whole;
	const {
		kind,
		path,
		target: reads,
		withPage,
		cost,
		parents,
		results: answers,
	} = step;
	const { errors: failures, write } = step;
	const ran = step.runs > 0;
	const flows = ran && (write === null || answers > 0);
	const flow = `${count(parents, PARENTS[kind])} → ${count(answers, ANSWERS[kind])}`;
	return (
		<span className="step-line" data-ran={ran || over}>
			<span className="step-name">
				<KindMark kind={kind} />
				<b>{path === parent?.path ? reads : path.split(".").at(-1)}</b>
			</span>
			<span className="step-flow" title={flow}>
				{flows && (
					<>
						<span className="unseen">{flow}</span>
						<span aria-hidden="true">
							{parents.toLocaleString("en")} <Arrow />{" "}
							{answers.toLocaleString("en")}
						</span>
					</>
				)}
			</span>
			<span className="step-cache">
				<CacheBar cache={step.cache} />
			</span>
			<span
				className="step-cost"
				data-too-much={over && cost > MUCH * whole.cost}
			>
				<span className="unseen">cost </span>
				{cost === 0 ? "–" : short(cost)}
			</span>
			<span className="step-time">
				{ran && !withPage && (
					<>
						<span className="time-bar" aria-hidden="true">
							<span
								style={{
									left: `${part(step.startMs, ms)}%`,
									width: `${part(step.ms, ms)}%`,
								}}
							/>
						</span>
						<span className="step-ms">{time(step.ms)}</span>
					</>
				)}
			</span>
			<small className="step-how">
				{failures.length > 0 && (
					<strong>{describeErrors(failures).join(" · ")} · </strong>
				)}
				{[
					write === null ? `${kind} ${reads}` : WRITE_VERBS[write.verb],
					...how(step, over),
				].join(" · ")}
			</small>
		</span>
	);
}

/** Statements with their rows, and where they went. */
function how(
	{ runs, withPage, write, statements, rows, shards, hosts }: ExplainStep,
	over: boolean,
): string[] {
	if (runs === 0) return over ? [] : ["not reached"];
	if (withPage) return ["with the page"];
	const sent = count(statements.length, "statement");
	const said = [
		statements.length === 0
			? "no statement"
			: write === null
				? `${sent}, ${count(rows, "row")}`
				: sent,
	];
	if (shards.length > 0) {
		const on =
			shards.length === 1
				? `shard ${shards[0]}`
				: count(shards.length, "shard");
		said.push(
			hosts.length === 1
				? `${on} on ${shortHost(hosts[0] as string)}`
				: `${on} on ${count(hosts.length, "host")}`,
		);
	}
	return write === null ? said : [...said, ...describeWrite(write)];
}

function part(ms: number, whole: number): number {
	return whole === 0 ? 0 : Math.min(100, (ms / whole) * 100);
}
