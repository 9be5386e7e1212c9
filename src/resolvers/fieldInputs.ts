import {
	type InputShape,
	optional,
	optionalNonNull,
	required,
} from "../../../graphql/input/readInput.ts";
import type { Model, StoredField } from "../../../model/types.ts";
import type { FieldPolicy } from "../../../model/validation.ts";
import { fieldPolicies } from "../../validators.ts";

type PolicyType = keyof typeof fieldPolicies;

/** The fields of an input that creates an object: those of the type's field policies. */
export function fieldsToCreate(model: Model, type: PolicyType): InputShape {
	return shapeOf(model, type, ({ validate, defaultFrom }, stored) =>
		stored?.required && defaultFrom === undefined
			? required(validate)
			: optional(validate),
	);
}

/** The fields of an input that updates an object: absent stays, null clears. */
export function fieldsToUpdate(model: Model, type: PolicyType): InputShape {
	return shapeOf(model, type, ({ validate }, stored) =>
		stored?.nullable === false ? optionalNonNull(validate) : optional(validate),
	);
}

function shapeOf(
	model: Model,
	type: PolicyType,
	inputField: (
		policy: FieldPolicy,
		stored: StoredField | undefined,
	) => InputShape[string],
): InputShape {
	const policies: Readonly<Record<string, FieldPolicy>> = fieldPolicies[type];
	const stored = new Map(
		model.objects.get(type)?.stored.map((field) => [field.field, field]),
	);
	return Object.fromEntries(
		Object.entries(policies)
			.filter(([, { operatorOnly }]) => !operatorOnly)
			.map(([field, policy]) => [field, inputField(policy, stored.get(field))]),
	);
}
