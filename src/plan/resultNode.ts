import { fieldError } from "./errors.ts";
import type { PlannedField } from "./plan.ts";
import { addError, type ResponseState } from "./responseState.ts";

/**
 * Where an object or a list stands in the answer. It knows what it stands in,
 * so that a null can walk up from wherever it appears; paths are spelled only
 * for errors.
 */
export interface ResultNode {
	/** Null for the data itself. */
	readonly parent: ResultNode | null;
	readonly key: string | number;
	readonly nullable: boolean;
	/** The data of this place. */
	readonly data: { [key: string | number]: unknown };
	/** What its fields are read from. */
	readonly source: unknown;
	/** Whether it became null after all; what is still to come beneath it concerns nobody. */
	isNulled: boolean;
}

/**
 * An error at one position (spec §6.4.4): the position is null if it may be,
 * else the nearest place around it that may, else the whole data. One error
 * for each place that is nulled: those beneath it are not told.
 */
export function raiseFieldError(
	answer: ResponseState,
	field: PlannedField,
	owner: ResultNode,
	key: string | number,
	nullable: boolean,
	thrown: unknown,
): void {
	for (let place: ResultNode | null = owner; place; place = place.parent) {
		if (place.isNulled) return;
	}
	addError(answer, () =>
		fieldError(thrown, field.nodes, [...pathOf(owner), key]),
	);
	if (nullable) owner.data[key] = null;
	else propagateNull(owner);
}

/** Null from here up to the nearest place that may be null. */
export function propagateNull(owner: ResultNode): void {
	let place = owner;
	while (!place.nullable && place.parent !== null) place = place.parent;
	place.isNulled = true;
	if (place.parent !== null) place.parent.data[place.key] = null;
}

function pathOf(place: ResultNode): readonly (string | number)[] {
	return place.parent === null ? [] : [...pathOf(place.parent), place.key];
}
