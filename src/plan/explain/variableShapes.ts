import type { VariableDefinitionNode } from "graphql";

/** Deeper parts of a value, and more parts of one, are left out. */
const MAX_DEPTH = 4;
const MAX_PARTS = 20;

/**
 * What a request's variables look like, never a value: `{ input: "{ name: string ≤ 8, tags: 3 × string ≤ 4 }" }`.
 * The values are coerced: the names are those of the document and of input types, not what else a client sent.
 */
export function variableShapes(
	definitions: readonly VariableDefinitionNode[],
	values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
	return Object.fromEntries(
		definitions
			.slice(0, MAX_PARTS)
			.map(({ variable: { name } }) => [
				name.value,
				shapeOf(values[name.value], 0),
			]),
	);
}

function shapeOf(value: unknown, depth: number): string {
	if (value === undefined) return "absent";
	if (value === null) return "null";
	if (typeof value === "string") return `string ≤ ${roundUp(value.length)}`;
	if (Array.isArray(value)) {
		const shapes = new Set(
			value.slice(0, MAX_PARTS).map((one) => shapeOf(one, depth + 1)),
		);
		return `${value.length} × ${[...shapes].slice(0, 3).join(" or ") || "nothing"}`;
	}
	if (typeof value !== "object") return typeof value;
	if (depth >= MAX_DEPTH) return "{ … }";
	const parts = Object.entries(value)
		.slice(0, MAX_PARTS)
		.map(([name, part]) => `${name}: ${shapeOf(part, depth + 1)}`);
	return `{ ${parts.join(", ")} }`;
}

/** A power of two: how long a text is, about, says enough. */
function roundUp(length: number): number {
	return length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length));
}
