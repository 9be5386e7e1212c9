import { CHANNELS, type Statement } from "../../src/diagnostics.ts";
import { publishedDuring } from "./publishedDuring.ts";

/** Each statement that ran, as `name: rows`. */
export async function shapes(
	body: () => Promise<unknown>,
): Promise<readonly string[]> {
	const statements = await publishedDuring<Statement>(CHANNELS.statement, body);
	return statements.map(({ name, rows }) => `${name}: ${rows}`);
}
