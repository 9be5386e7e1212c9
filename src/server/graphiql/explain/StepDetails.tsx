import {
	describeErrors,
	describeWrite,
	explainSurplus,
	WRITE_VERBS,
} from "../../../plan/explain/describeStep.ts";
import type { ExplainStep } from "../../../plan/explain/explainOutput.ts";
import { shortHost } from "./format.ts";
import { Statements } from "./Statements.tsx";

/** Everything known of a step. */
export function StepDetails(props: {
	readonly step: ExplainStep;
	/** The texts that its statements refer to. */
	readonly sql: readonly string[];
}) {
	const { step, sql } = props;
	const { path, field, runs, write, errors, shards, modShards, hosts } = step;
	const surplus = explainSurplus(step);
	const { cache, statements } = step;
	const writeFacts =
		write === null ? [] : [WRITE_VERBS[write.verb], ...describeWrite(write)];
	return (
		<div className="step-details">
			<dl>
				<dt>path</dt>
				<dd>
					<code>{path}</code>
				</dd>
				<dt>field</dt>
				<dd>
					<code>{field}</code>
				</dd>
				{writeFacts.length > 0 && (
					<>
						<dt>write</dt>
						<dd>{writeFacts.join(", ")}</dd>
					</>
				)}
				{runs > 1 && (
					<>
						<dt>runs</dt>
						<dd>
							{runs}
							{write === null && ", one for each level that reached it"}
						</dd>
					</>
				)}
				{errors.length > 0 && (
					<>
						<dt>errors</dt>
						<dd>{describeErrors(errors).join(", ")}</dd>
					</>
				)}
				{shards.length > 0 && (
					<>
						<dt>shards</dt>
						<dd>{shards.join(", ")}</dd>
					</>
				)}
				{modShards.length > 0 && (
					<>
						<dt>mod shards</dt>
						<dd>{modShards.join(", ")}</dd>
					</>
				)}
				{hosts.length > 0 && (
					<>
						<dt>hosts</dt>
						<dd title={hosts.join("\n")}>{hosts.map(shortHost).join(", ")}</dd>
					</>
				)}
				{surplus.length > 0 && (
					<>
						<dt>rows</dt>
						<dd>
							{surplus.map(({ fact, why }) => (
								<p key={fact}>
									<b>{fact}.</b> {why}
								</p>
							))}
						</dd>
					</>
				)}
				{cache.length > 0 && (
					<>
						<dt>caches</dt>
						<dd>
							{cache
								.map(
									({ layer, hits, misses }) =>
										`${layer} ${hits}/${hits + misses} hits`,
								)
								.join(", ")}
						</dd>
					</>
				)}
			</dl>
			<Statements statements={statements} sql={sql} />
		</div>
	);
}
