/** Of the lines of a record. */
const LOGGED = 200;

export const recordPath = (id: string) => `operations/${id}`;

/** The record with one more line of what happened. */
export function logged<Record extends { readonly log: readonly string[] }>(
	record: Record,
	line: string | null,
): Record {
	if (line === null) return record;
	const log = [...record.log, `${new Date().toISOString()} ${line}`];
	return { ...record, log: log.slice(-LOGGED) };
}
