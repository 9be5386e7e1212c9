import { fieldError } from "./errors.ts";
import type { PlannedField } from "./plan.ts";
import { type Answer, tell } from "./response.ts";

/**
 * Where an object or a list stands in the answer. It knows what it stands in,
 * so that a null can walk up from wherever it appears; paths are spelled only
 * for errors.
 */
export interface Place {
	/** Null for the data itself. */
	readonly parent: Place | null;
	readonly key: string | number;
	readonly nullable: boolean;
	/** The data of this place. */
	readonly out: { [key: string | number]: unknown };
	/** What its fields are read from. */
	readonly source: unknown;
	/** Whether it became null after all; what is still to come beneath it concerns nobody. */
	dead: boolean;
}

/**
 * An error at one position (spec §6.4.4): the position is null if it may be,
 * else the nearest place around it that may, else the whole data. One error
 * for each place that is nulled: those beneath it are not told.
 */
export function fail(
	answer: Answer,
	field: PlannedField,
	owner: Place,
	key: string | number,
	nullable: boolean,
	thrown: unknown,
): void {
	for (let place: Place | null = owner; place; place = place.parent) {
		if (place.dead) return;
	}
	tell(answer, () => fieldError(thrown, field.nodes, [...pathOf(owner), key]));
	if (nullable) owner.out[key] = null;
	else nullAt(owner);
}

/** Null from here up to the nearest place that may be null. */
export function nullAt(owner: Place): void {
	let place = owner;
	while (!place.nullable && place.parent !== null) place = place.parent;
	place.dead = true;
	if (place.parent !== null) place.parent.out[place.key] = null;
}

function pathOf(place: Place): readonly (string | number)[] {
	return place.parent === null ? [] : [...pathOf(place.parent), place.key];
}
