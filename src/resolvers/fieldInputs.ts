import {
	type InputShape,
	optional,
	optionalNonNull,
	required,
} from "../graphql/input/readInput.ts";
import type { StoredField } from "../model/types.ts";
import type { FieldPolicy } from "../model/validation.ts";
import type { InputTypes } from "../plan/batchResolver.ts";

/** The fields of an input that creates an object: those of the type's field policies. */
export function fieldsToCreate(types: InputTypes, type: string): InputShape {
	return shapeOf(types, type, ({ validate, defaultFrom }, stored) =>
		stored?.required && defaultFrom === undefined
			? required(validate)
			: optional(validate),
	);
}

/** The fields of an input that updates an object: absent stays, null clears. */
export function fieldsToUpdate(types: InputTypes, type: string): InputShape {
	return shapeOf(types, type, ({ validate }, stored) =>
		stored?.nullable === false ? optionalNonNull(validate) : optional(validate),
	);
}

function shapeOf(
	{ model, fields }: InputTypes,
	type: string,
	inputField: (
		policy: FieldPolicy,
		stored: StoredField | undefined,
	) => InputShape[string],
): InputShape {
	const stored = new Map(
		model.objects.get(type)?.stored.map((field) => [field.field, field]),
	);
	return Object.fromEntries(
		Object.entries(fields[type] ?? {})
			.filter(([, { operatorOnly }]) => !operatorOnly)
			.map(([field, policy]) => [field, inputField(policy, stored.get(field))]),
	);
}
