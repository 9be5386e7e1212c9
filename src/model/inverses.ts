import { getNamedType } from "graphql";
import type { DeclaredField, DeclaredType } from "./directives.ts";
import type { Problems } from "./problems.ts";
import type { Inverse, Mapping } from "./types.ts";

/** A mapping of which it is not yet known how its inverse tells the same fact. */
export interface MappingDraft {
	readonly declared: DeclaredField;
	readonly mapping: Omit<Mapping, "inverse">;
	/** The field that `inverse` names. */
	readonly inverse: string | null;
}

const SUFFIX = ".inverse";

/**
 * The other side of a mapping: a second mapping or a reference, on the type
 * the edges lead to, that leads back (schema/directives.graphql, `@mapping`).
 */
export function readInverse(
	draft: MappingDraft,
	drafts: readonly MappingDraft[],
	types: ReadonlyMap<string, DeclaredType>,
	problems: Problems,
): Inverse | null {
	const { declared, mapping, inverse } = draft;
	const fault = (sentence: string): null => {
		problems.add(declared.mapping?.node, sentence);
		return null;
	};
	const told = mapping.name.endsWith(SUFFIX);
	if (inverse === null) {
		return told
			? fault(
					`the mapping ${mapping.name} of ${declared.path} is named as an inverse, so it must have one, got none`,
				)
			: null;
	}
	if (mapping.from === null) {
		return fault(
			`${declared.path} is a list of the whole graph, which has no inverse, got ${inverse}`,
		);
	}
	const other = types.get(mapping.to)?.fields.get(inverse);
	if (other === undefined) {
		return fault(
			`the inverse of ${declared.path} must be a field of ${mapping.to}, got ${inverse}`,
		);
	}
	if (other.reference !== null) {
		const target = getNamedType(other.field.type).name;
		// What is wrong with the reference is told at the reference.
		if (types.get(target)?.role !== "object") return null;
		if (target !== mapping.from) {
			return fault(
				`the inverse of ${declared.path} must lead back to ${mapping.from}, got ${other.path}, which is a reference to ${target}`,
			);
		}
		if (told) {
			return fault(
				`the mapping ${mapping.name} of ${declared.path} follows the reference ${other.path}, so it must not be named as an inverse`,
			);
		}
		const key = other.reference.values?.key;
		return key === undefined
			? null
			: { kind: "reference", field: other.name, key };
	}
	if (other.mapping === null) {
		return fault(
			`the inverse of ${declared.path} must have @mapping or @reference, got ${other.path}, which has neither`,
		);
	}
	const otherDraft = drafts.find((each) => each.declared === other);
	// What is wrong with the other mapping is told at the other mapping.
	if (otherDraft === undefined) return null;
	if (otherDraft.mapping.to !== mapping.from) {
		return fault(
			`the inverse of ${declared.path} must lead back to ${mapping.from}, got ${other.path}, which leads to ${otherDraft.mapping.to}`,
		);
	}
	if (otherDraft.inverse !== declared.name) {
		return fault(
			`the inverse of ${declared.path} must name it back, got ${other.path}, whose inverse is ${otherDraft.inverse ?? "none"}`,
		);
	}
	const otherName = otherDraft.mapping.name;
	if (otherName === mapping.name + SUFFIX) {
		return { kind: "target", mapping: otherName };
	}
	if (mapping.name === otherName + SUFFIX) {
		return { kind: "source", mapping: otherName };
	}
	// One fault of two fields: told once.
	if (drafts.indexOf(otherDraft) < drafts.indexOf(draft)) return null;
	return fault(
		`of the mappings ${declared.path} and ${other.path}, which tell one fact, one must be named X and the other X.inverse, got ${mapping.name} and ${otherName}`,
	);
}
