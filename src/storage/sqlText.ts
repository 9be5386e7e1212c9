import type { StatementSql } from "../trace.ts";

/** Characters of a statement's text that are shown. */
const MAX_TEXT = 2_000;

/** Kinds of parameters that are listed one by one. */
const MAX_PARAMETERS = 20;

/** A number that is neither a part of a name nor numbers the parts of a statement. */
const LITERAL = /\b\d+\b(?! AS [a-z])/g;

/**
 * A statement for people to read: its text with repeated parts written once,
 * and the kind of each parameter. Neither holds a value: texts are parameters,
 * and numbers that are spelled out, such as ids, are shown as placeholders.
 */
export function describeSql(
	text: string,
	values: readonly unknown[],
): StatementSql {
	const parts = text
		.replaceAll(/\s+/g, " ")
		.trim()
		.replaceAll(LITERAL, "?")
		.split(" UNION ALL ")
		.map(shortenLists);
	const whole = withCounts(parts, partPattern)
		.map(([part, count]) => (count === 1 ? part : `${part} /* × ${count} */`))
		.join(" UNION ALL ");
	const shapes = withCounts(values.map(shapeOf)).map(([shape, count]) =>
		count === 1 ? shape : `${shape} × ${count}`,
	);
	const more = shapes.length - MAX_PARAMETERS;
	return {
		text: whole.length > MAX_TEXT ? `${whole.slice(0, MAX_TEXT)} …` : whole,
		parameters:
			more > 0
				? [...shapes.slice(0, MAX_PARAMETERS), `… ${more} more`]
				: shapes,
	};
}

/** `IN (?, ?, ?)` as `IN (? × 3)`, and the rows of VALUES likewise. */
function shortenLists(text: string): string {
	return text
		.replaceAll(/\?(?:, \?){3,}/g, (all) => `? × ${all.split("?").length - 1}`)
		.replaceAll(
			/((?:ROW)?\([^()]*\))(?:, (?:ROW)?\([^()]*\)){3,}/g,
			(all, first: string) => `${first} × ${all.split("), ").length}`,
		);
}

/** Parts that differ only in a scan's number or a database's are one. */
function partPattern(part: string): string {
	return part.replaceAll(/\b(?:db|mod)?\d+\b/g, "0");
}

/** Neighbors that are equal, once each with their number. */
function withCounts(
	texts: readonly string[],
	keyOf: (text: string) => string = (text) => text,
): readonly (readonly [string, number])[] {
	const runs: [string, number][] = [];
	let last: string | undefined;
	for (const text of texts) {
		const key = keyOf(text);
		const run = runs.at(-1);
		if (run !== undefined && key === last) run[1]++;
		else runs.push([text, 1]);
		last = key;
	}
	return runs;
}

const ID = /^\d{1,20}$/;

function shapeOf(value: unknown): string {
	if (value === null) return "null";
	if (typeof value === "bigint") return "id";
	if (typeof value === "number") return "number";
	if (typeof value !== "string") return "bytes";
	if (ID.test(value)) return "id";
	if (value.startsWith("{")) return "JSON object";
	return value.startsWith("[") ? `JSON array of ${lengthOf(value)}` : "text";
}

function lengthOf(json: string): string {
	try {
		const items: unknown = JSON.parse(json);
		return Array.isArray(items) ? String(items.length) : "?";
	} catch {
		return "?";
	}
}
