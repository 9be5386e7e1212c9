/** Statements that end or begin transactions, or change no row and no table. */
const HARMLESS =
	/^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|XA|GRANT|REVOKE|ANALYZE|OPTIMIZE|CHECK|FLUSH|SET)\b/i;
/** The fence of a shard, and its end. */
const READ_ONLY = /^ALTER\s+(?:DATABASE|SCHEMA)\s+\S+\s+READ\s+ONLY\b/i;
const CHANGES_ROWS = /^(?:INSERT|UPDATE|DELETE|REPLACE|LOAD|CALL|WITH)\b/i;

/**
 * Why rows cannot be followed past a statement in the binary log; null if they
 * can. The statement concerns a database that it names or runs in.
 */
export function refusalOf(
	{ query, schema }: { readonly query: string; readonly schema: string },
	databases: ReadonlySet<string>,
): string | null {
	const text = withoutComments(query);
	if (HARMLESS.test(text) || READ_ONLY.test(text)) return null;
	const concerned = databases.has(schema)
		? schema
		: text.match(/[\w$]+/g)?.find((word) => databases.has(word));
	if (concerned === undefined) return null;
	const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
	return CHANGES_ROWS.test(text)
		? `A change of ${concerned} was logged as a statement, not as rows: the session that sent it has another binlog_format than ROW (${shown}).`
		: `The tables of ${concerned} were changed meanwhile: ${shown}.`;
}

/** Characters of a statement that a message shows. */
const SHOWN = 200;

function withoutComments(query: string): string {
	return query.replaceAll(/\/\*[^!][\s\S]*?\*\//g, " ").trim();
}
