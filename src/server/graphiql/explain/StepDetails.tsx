import {
	describeErrors,
	describeWrite,
	WRITE_VERBS,
} from "../../../plan/describeStep.ts";
import type { ExplainStep } from "../../../plan/explainOutput.ts";
import { formatMilliseconds, plural } from "../../../util/format.ts";
import { shortHost } from "./format.ts";

/** An operation on many shards may send hundreds of statements. */
const MAX_STATEMENTS = 50;

/** Everything known of a step. */
export function StepDetails({ step }: { readonly step: ExplainStep }) {
	const { path, field, runs, write, errors, shards, hosts } = step;
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
						<dt>hosts</dt>
						<dd title={hosts.join("\n")}>{hosts.map(shortHost).join(", ")}</dd>
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
			{statements.length > 0 && (
				<table>
					<thead>
						<tr>
							<th>statement</th>
							<th>shard</th>
							<th>host</th>
							<th>rows</th>
							<th>time</th>
						</tr>
					</thead>
					<tbody>
						{statements.slice(0, MAX_STATEMENTS).map((one, index) => (
							// biome-ignore lint/suspicious/noArrayIndexKey: statements have no key, and their order is fixed
							<tr key={index}>
								<td>
									{one.name}
									{one.shared && <small> shared with another step</small>}
								</td>
								<td>{one.shard}</td>
								<td title={one.host}>{shortHost(one.host)}</td>
								<td>{one.rows}</td>
								<td>{formatMilliseconds(one.ms)}</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
			{statements.length > MAX_STATEMENTS && (
				<p>
					and {plural(statements.length - MAX_STATEMENTS, "more statement")}
				</p>
			)}
		</div>
	);
}
