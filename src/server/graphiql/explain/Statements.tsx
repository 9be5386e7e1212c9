import type { ExplainStatement } from "../../../plan/explain/explainOutput.ts";
import { formatMilliseconds, plural } from "../../../util/format.ts";
import { shortHost } from "./format.ts";

/** An operation on many shards may send hundreds of statements. */
const MAX_STATEMENTS = 50;

/** The statements of a step. Each opens to its SQL and the kinds of its parameters. */
export function Statements(props: {
	readonly statements: readonly ExplainStatement[];
	/** The texts that statements refer to. */
	readonly sql: readonly string[];
}) {
	const { statements, sql } = props;
	const more = statements.length - MAX_STATEMENTS;
	if (statements.length === 0) return null;
	return (
		<>
			<div className="statement-line statement-head" aria-hidden="true">
				<span>statement</span>
				<span>shard</span>
				<span>host</span>
				<span>rows</span>
				<span>time</span>
			</div>
			<ul className="statements" aria-label="Statements">
				{statements.slice(0, MAX_STATEMENTS).map((one, index) => (
					// biome-ignore lint/suspicious/noArrayIndexKey: statements have no key, and their order is fixed
					<li key={index}>
						<Statement
							statement={one}
							text={one.sql === null ? undefined : sql[one.sql]}
						/>
					</li>
				))}
			</ul>
			{more > 0 && <p>and {plural(more, "more statement")}</p>}
		</>
	);
}

function Statement(props: {
	readonly statement: ExplainStatement;
	readonly text: string | undefined;
}) {
	const { statement, text } = props;
	const { parameters } = statement;
	if (text === undefined) return <StatementLine statement={statement} />;
	return (
		<details>
			<summary>
				<StatementLine statement={statement} />
			</summary>
			<pre>{inLines(text)}</pre>
			{parameters.length > 0 && (
				<p>
					<small>parameters</small> {parameters.join(", ")}
				</p>
			)}
		</details>
	);
}

function StatementLine(props: { readonly statement: ExplainStatement }) {
	const { name, shard, onModShard, host, rows, ms, shared } = props.statement;
	return (
		<span className="statement-line">
			<span>
				<span className="statement-name">{name}</span>
				{shared && <small> shared with another step</small>}
			</span>
			<span>
				{onModShard && "mod "}
				{shard}
			</span>
			<span title={host}>{shortHost(host)}</span>
			<span>{rows}</span>
			<span>{formatMilliseconds(ms)}</span>
		</span>
	);
}

/** Clauses on lines of their own. */
function inLines(text: string): string {
	return text.replaceAll(
		/ (?=(?:FROM|WHERE|ORDER BY|LEFT JOIN|VALUES|ON DUPLICATE|ON CONFLICT|UNION ALL|SET|LIMIT)\b)/g,
		"\n",
	);
}
