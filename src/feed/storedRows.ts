import type { Id } from "../id/ids.ts";
import {
	POOL_STATES,
	type PoolRow,
	type PoolState,
	type Visit,
} from "./pools.ts";
import { sourceOf } from "./sources.ts";

/** A row of a pool as databases return it. */
export interface StoredRow {
	readonly state: number;
	readonly source: number;
	readonly score: number;
	readonly pin: Id;
	readonly origin: Id;
	readonly via: Id;
	readonly changedAt: number;
}

export type StoredVisit = Visit;

const STATE_NAMES = Object.keys(POOL_STATES) as readonly PoolState[];

/** Throws a TypeError for a row that is damaged. */
export function rowOf({ state, source, ...row }: StoredRow): PoolRow {
	const name = STATE_NAMES.find((each) => POOL_STATES[each] === state);
	if (name === undefined) {
		throw new TypeError(`The stored state ${state} of a pin is invalid.`);
	}
	return { ...row, state: name, source: sourceOf(source) };
}
