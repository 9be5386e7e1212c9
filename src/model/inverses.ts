import { getNamedType } from "graphql";
import type { DeclaredField, DeclaredType } from "./directives.ts";
import type { Problems } from "./problems.ts";
import type { Inverse, Mapping, OrderingField } from "./types.ts";

/** A mapping whose inverse is not resolved yet. */
export interface MappingDraft {
	readonly declared: DeclaredField;
	readonly mapping: Omit<Mapping, "inverse">;
	/** The name of the inverse field, as the directive gives it. */
	readonly inverse: string | null;
	/** The name of the reference that the list is grouped by, as the directive gives it. */
	readonly groupBy: string | null;
	/** The name of the field that the list is ordered by, as the directive gives it. */
	readonly orderBy: string | null;
}

const SUFFIX = ".inverse";

/**
 * Resolves the inverse of a mapping: a second mapping or a reference, on the
 * type that the edges lead to, that leads back (directives.graphql).
 */
export function readInverse(
	draft: MappingDraft,
	drafts: readonly MappingDraft[],
	types: ReadonlyMap<string, DeclaredType>,
	problems: Problems,
): Inverse | null {
	const { declared, mapping, inverse } = draft;
	const problem = (message: string): null => {
		problems.add(declared.mapping?.node, message);
		return null;
	};
	const isNamedInverse = mapping.name.endsWith(SUFFIX);
	if (inverse === null) {
		return isNamedInverse
			? problem(
					`the mapping ${mapping.name} of ${declared.path} has the name of an inverse, so it must have an inverse`,
				)
			: null;
	}
	if (mapping.from === null) {
		return problem(
			`${declared.path} is a list of the whole graph, which cannot have an inverse, got ${inverse}`,
		);
	}
	const other = types.get(mapping.to)?.fields.get(inverse);
	if (other === undefined) {
		return problem(
			`the inverse of ${declared.path} must be a field of ${mapping.to}, got ${inverse}`,
		);
	}
	if (other.reference !== null) {
		const target = getNamedType(other.field.type).name;
		// A problem of the reference is reported at the reference.
		if (types.get(target)?.role !== "object") return null;
		if (target !== mapping.from) {
			return problem(
				`the inverse of ${declared.path} must lead back to ${mapping.from}, got ${other.path}, which is a reference to ${target}`,
			);
		}
		if (isNamedInverse) {
			return problem(
				`the mapping ${mapping.name} of ${declared.path} is derived from the reference ${other.path}, so its name must not end with .inverse`,
			);
		}
		const key = other.reference.values?.key;
		return key === undefined
			? null
			: { kind: "reference", field: other.name, key };
	}
	if (other.mapping === null) {
		return problem(
			`the inverse of ${declared.path} must have @mapping or @reference, got ${other.path}, which has neither`,
		);
	}
	const otherDraft = drafts.find((each) => each.declared === other);
	// A problem of the other mapping is reported at the other mapping.
	if (otherDraft === undefined) return null;
	if (otherDraft.mapping.to !== mapping.from) {
		return problem(
			`the inverse of ${declared.path} must lead back to ${mapping.from}, got ${other.path}, which leads to ${otherDraft.mapping.to}`,
		);
	}
	if (otherDraft.inverse !== declared.name) {
		return problem(
			`the inverse of ${declared.path} must name that field, got ${other.path}, whose inverse is ${otherDraft.inverse ?? "none"}`,
		);
	}
	const otherName = otherDraft.mapping.name;
	if (otherName === mapping.name + SUFFIX) {
		return { kind: "target", mapping: otherName };
	}
	if (mapping.name === otherName + SUFFIX) {
		return { kind: "source", mapping: otherName };
	}
	// Both fields have this problem: it is reported once.
	if (drafts.indexOf(otherDraft) < drafts.indexOf(draft)) return null;
	return problem(
		`the mappings ${declared.path} and ${other.path} hold one fact, so one must be named X and the other X.inverse, got ${mapping.name} and ${otherName}`,
	);
}

/** Resolves the reference that a list is grouped by; null for a list that is not. */
export function readGroup(
	{ declared, mapping, groupBy }: MappingDraft,
	inverse: Inverse | null,
	types: ReadonlyMap<string, DeclaredType>,
	problems: Problems,
): NonNullable<Mapping["groupedBy"]> | null {
	if (groupBy === null) return null;
	const problem = (message: string): null => {
		problems.add(declared.mapping?.node, message);
		return null;
	};
	// A problem of the inverse is reported there.
	if (inverse?.kind !== "reference") {
		return declared.mapping?.values?.inverse == null || inverse !== null
			? problem(
					`${declared.path} is grouped, so its inverse must be a reference`,
				)
			: null;
	}
	if (mapping.order !== "NEWEST_FIRST") {
		return problem(
			`${declared.path} is grouped by ${groupBy}, which decides its order, so it must not have another one, got ${mapping.order}`,
		);
	}
	const field = types.get(mapping.to)?.fields.get(groupBy);
	const key = field?.reference?.values?.key;
	if (key === undefined) {
		return problem(
			`${declared.path} must be grouped by a reference of ${mapping.to}, got ${groupBy}`,
		);
	}
	return { field: groupBy, key };
}

/** Resolves the field that a list is ordered by; null for a list that is not. */
export function readOrder(
	{ declared, mapping, groupBy, orderBy }: MappingDraft,
	inverse: Inverse | null,
	types: ReadonlyMap<string, DeclaredType>,
	problems: Problems,
): OrderingField | null {
	const { path } = declared;
	const { order } = mapping;
	const problem = (message: string): null => {
		problems.add(declared.mapping?.node, message);
		return null;
	};
	const isByValue = order === "LOWEST_FIRST" || order === "HIGHEST_FIRST";
	if (orderBy === null) {
		return isByValue
			? problem(`${path} has the order ${order}, so it must have orderBy`)
			: null;
	}
	if (groupBy !== null) {
		return problem(
			`${path} is grouped by ${groupBy}, which decides its order, so it must not have orderBy`,
		);
	}
	if (!isByValue) {
		return problem(
			`${path} is ordered by ${orderBy}, so its order must be LOWEST_FIRST or HIGHEST_FIRST, got ${order}`,
		);
	}
	if (inverse?.kind !== "reference") {
		// A problem of the inverse is reported there.
		return declared.mapping?.values?.inverse == null || inverse !== null
			? problem(
					`${path} is ordered by ${orderBy}, so its inverse must be a reference: other edges do not follow their objects`,
				)
			: null;
	}
	const field = types.get(mapping.to)?.fields.get(orderBy);
	const type = String(field?.field.type).replace(/!$/, "");
	if (
		field === undefined ||
		field.stored === null ||
		(type !== "DateTime" && type !== "Int")
	) {
		return problem(
			`${path} must be ordered by a field of ${mapping.to} with @stored, of the type DateTime or Int, got ${orderBy}${field === undefined ? "" : `: ${field.field.type}`}`,
		);
	}
	const startAt = declared.field.args.find(({ name }) => name === "startAt");
	if (startAt !== undefined && String(startAt.type) !== type) {
		return problem(
			`the argument startAt of ${path} must be of the type of ${orderBy}, ${type}, got ${startAt.type}`,
		);
	}
	return {
		field: orderBy,
		key: field.stored.values?.key ?? orderBy,
		default: field.stored.values?.default ?? null,
		type,
	};
}
