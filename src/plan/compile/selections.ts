import {
	type GraphQLOutputType,
	isLeafType,
	isListType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { PlannedField, PlanStep, Selection, Shape } from "../plan.ts";
import { scalarFormat } from "../scalarFormat.ts";

export const EMPTY_SELECTION: Selection = {
	type: "",
	fields: [],
	columns: [],
	tail: "{}",
	characters: 2,
	repeatedTexts: [],
	error: null,
};

/** Whether a field is read for all objects of a level together. The others are read when they are written. */
export function hasColumn({
	access,
	objectShape,
	definition,
}: Pick<PlannedField, "access" | "objectShape" | "definition">): boolean {
	if (access.kind === "introspection") return false;
	return (
		access.kind !== "value" ||
		objectShape !== null ||
		definition.args.length > 0
	);
}

/** Leaves that read the same value. */
export function repeatedTexts(fields: readonly PlannedField[]): PlannedField[] {
	const leaves = fields.filter(
		({ access, shape }) => access.kind === "value" && shape.kind === "leaf",
	);
	const counts = new Map<string, number>();
	for (const { name } of leaves) {
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return leaves.filter(({ name }) => (counts.get(name) as number) > 1);
}

/** What is selected below a field. */
export interface Below {
	readonly selections: ReadonlyMap<string, Selection>;
	readonly fetch: PlanStep | null;
	/** For a field inside a page: the fetch of its objects. */
	readonly pageFetch: PlanStep | null;
}

export const LEAF: Below = {
	selections: new Map(),
	fetch: null,
	pageFetch: null,
};

/** The shape of a field's value. `levels` are those at which it is null only together with an error. */
export function shapeOf(
	type: GraphQLOutputType,
	below: Below,
	levels: readonly number[],
): Shape {
	const nullable = !isNonNullType(type);
	const inner = isNonNullType(type) ? type.ofType : type;
	if (isListType(inner)) {
		const inside = levels.map((level) => level - 1);
		return { kind: "list", nullable, of: shapeOf(inner.ofType, below, inside) };
	}
	if (isLeafType(inner)) {
		return {
			kind: "leaf",
			nullable,
			format: scalarFormat(inner),
			serialize: (value) => inner.serialize(value),
		};
	}
	const { selections, fetch } = below;
	const only = isObjectType(inner)
		? (selections.get(inner.name) as Selection)
		: null;
	const isNullOnlyOnError = levels.includes(0);
	return {
		kind: "object",
		nullable,
		isNullOnlyOnError,
		selections,
		only,
		fetch,
	};
}
