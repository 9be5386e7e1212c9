import { CorkboardError } from "../../errors.ts";
import type { Domain } from "../../graph/domain.ts";
import {
	keyFields,
	type Mapping,
	type Model,
	type ObjectType,
} from "../../model/types.ts";
import type { JsonValue } from "../../util/json.ts";
import { nearest } from "../../util/nearest.ts";

/** What a stream of changes has. */
export interface Selection {
	/** The selected fields by their names, by type name. No object of a type that is not here is given out. */
	readonly fields: ReadonlyMap<string, ReadonlyMap<string, SelectedField>>;
	/** The selected mappings by their names. */
	readonly mappings: ReadonlyMap<string, Mapping>;
}

export interface SelectedField {
	/** The field's key in the stored JSON. */
	readonly key: string;
	/** What it is if the key is absent. */
	readonly default: JsonValue;
}

interface Schema {
	readonly model: Model;
	readonly domain: Domain;
	readonly isShown: (type: string, field: string) => boolean;
}

/**
 * Reads what is selected: `Pin`, `Pin.title`, `User.likes`. Nothing given: every
 * field and list that everybody may read who sees its object, and no other; a type
 * alone: those of the type. Throws BAD_USER_INPUT for what the SDL does not have.
 */
export function readSelection(
	schema: Schema,
	given: readonly string[],
): Selection {
	const { model } = schema;
	const fields = new Map<string, Map<string, SelectedField>>();
	const mappings = new Map<string, Mapping>();
	const asked = given.length === 0 ? [...model.objects.keys()] : given;
	for (const name of asked) {
		const [typeName = "", field] = name.split(".");
		const type = model.objects.get(typeName);
		if (type === undefined) throw unknown(name, [...model.objects.keys()]);
		const own = fields.get(typeName) ?? new Map<string, SelectedField>();
		const found = namesOf(type);
		if (field === undefined) {
			fields.set(typeName, own);
			for (const [each, selected] of found.fields) {
				if (isOpen(schema, typeName, each)) own.set(each, selected);
			}
			for (const mapping of found.mappings.values()) {
				if (isOpenList(schema, mapping)) mappings.set(mapping.name, mapping);
			}
			continue;
		}
		const selected = found.fields.get(field);
		const mapping = found.mappings.get(field);
		if (selected !== undefined) fields.set(typeName, own.set(field, selected));
		else if (mapping !== undefined) mappings.set(mapping.name, mapping);
		else {
			throw unknown(
				name,
				[...found.fields.keys(), ...found.mappings.keys()].map(
					(each) => `${typeName}.${each}`,
				),
			);
		}
	}
	return { fields, mappings };
}

function namesOf(type: ObjectType) {
	const { stored, references, mappings } = type;
	return {
		fields: new Map(
			[...references, ...keyFields(type), ...stored].map((one) => [
				one.field,
				{ key: one.key, default: "default" in one ? one.default : null },
			]),
		),
		mappings: new Map(
			mappings
				.filter(({ place }) => place === undefined)
				.map((mapping) => [mapping.field, mapping]),
		),
	};
}

/** A field that a resolver computes, such as an e-mail address, may depend on who reads it. */
function isOpen({ model, isShown }: Schema, type: string, field: string) {
	const source = model.sources.get(type)?.get(field)?.kind;
	return (
		isShown(type, field) && (source === "stored" || source === "reference")
	);
}

function isOpenList({ domain, isShown }: Schema, mapping: Mapping): boolean {
	return (
		mapping.from !== null &&
		isShown(mapping.from, mapping.field) &&
		!domain.visibility.isPrivateList(mapping)
	);
}

function unknown(name: string, known: readonly string[]): CorkboardError {
	const meant = nearest(name, known);
	return new CorkboardError(
		"BAD_USER_INPUT",
		`${JSON.stringify(name)} is no type, stored field or list of the SDL.${meant ? ` Did you mean ${meant}?` : ""} Known: ${known.join(", ")}.`,
	);
}
