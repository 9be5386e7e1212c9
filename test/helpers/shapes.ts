import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import type { Statement } from "../../src/trace.ts";
import { publishedDuring } from "./publishedDuring.ts";

/** Each statement that ran, as `name: rows`. */
export async function shapes(
	body: () => Promise<unknown>,
): Promise<readonly string[]> {
	const statements = await publishedDuring<Statement>(
		STORAGE_CHANNELS.statement,
		body,
	);
	return statements.map(({ name, rows }) => `${name}: ${rows}`);
}
