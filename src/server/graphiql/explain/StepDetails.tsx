import {
	describeErrors,
	describeWrite,
	WRITE_VERBS,
} from "../../../plan/describeWrite.ts";
import type { ExplainStep } from "../../../plan/explainRecorder.ts";
import { count, shortHost, time } from "./format.ts";

/** More statements than this are not listed: a run over a fleet may send hundreds. */
const MAX_LISTED = 50;

/** All that is known of a step, for who opens it. */
export function StepDetails({ step }: { readonly step: ExplainStep }) {
	const {
		path,
		field,
		runs,
		write,
		errors: failures,
		shards,
		hosts,
		cache,
		statements,
	} = step;
	const wrote =
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
				{wrote.length > 0 && (
					<>
						<dt>write</dt>
						<dd>{wrote.join(", ")}</dd>
					</>
				)}
				{runs > 1 && (
					<>
						<dt>runs</dt>
						<dd>
							{runs}
							{write === null && ", one for each level it was reached on"}
						</dd>
					</>
				)}
				{failures.length > 0 && (
					<>
						<dt>errors</dt>
						<dd>{describeErrors(failures).join(", ")}</dd>
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
										`${layer} had ${hits} of ${hits + misses}`,
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
						{statements.slice(0, MAX_LISTED).map((one, at) => (
							// Statements have no name of their own, and their order stays.
							// biome-ignore lint/suspicious/noArrayIndexKey: see above
							<tr key={at}>
								<td>
									{one.name}
									{one.shared && <small> shared with another step</small>}
								</td>
								<td>{one.shard}</td>
								<td title={one.host}>{shortHost(one.host)}</td>
								<td>{one.rows}</td>
								<td>{time(one.ms)}</td>
							</tr>
						))}
					</tbody>
				</table>
			)}
			{statements.length > MAX_LISTED && (
				<p>and {count(statements.length - MAX_LISTED, "more statement")}</p>
			)}
		</div>
	);
}
