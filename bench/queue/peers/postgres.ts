import pg from "pg";

/** Executes a statement on a connection of its own. */
export async function runSql(
	url: string,
	text: string,
	values: readonly unknown[] = [],
): Promise<void> {
	const client = new pg.Client(url);
	await client.connect();
	try {
		await client.query(text, [...values]);
	} finally {
		await client.end();
	}
}
