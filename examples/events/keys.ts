import type { Id } from "corkboard";

/** Natural keys of two parts. The engine knows those of one stored field, so the parts are stored together too. */

/** No text of a part can make it that of another pair. */
export function keyOfPlace(city: string, name: string): string {
	return JSON.stringify([city, name]);
}

export function keyOfIds(one: Id, other: Id): string {
	return `${one}:${other}`;
}
