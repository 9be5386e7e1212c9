import type { Id } from "./ids.ts";

/** Writes the upper and the lower 32 bits of an id. False for what is no id. */
export function splitId(id: string, into: Uint32Array): boolean {
	const { length } = id;
	if (length === 0 || length > MAX_DIGITS) return false;
	const middle = length - LOW_DIGITS;
	let high = 0;
	let low = 0;
	for (let at = 0; at < length; at++) {
		const digit = id.charCodeAt(at) - ZERO;
		if (!(digit >= 0 && digit <= 9)) return false;
		if (at < middle) high = high * 10 + digit;
		else low = low * 10 + digit;
	}
	if (length > 1 && id.charCodeAt(0) === ZERO) return false;
	// As 10^10 is 9,765,625 * 2^10, all numbers are exact.
	const lowTop = Math.floor(low / 2 ** 10);
	const top = high * TENS + lowTop;
	if (top >= 2 ** 52) return false;
	const upper = Math.floor(top / 2 ** 22);
	into[0] = upper;
	into[1] = (top - upper * 2 ** 22) * 2 ** 10 + (low - lowTop * 2 ** 10);
	return true;
}

/**
 * The id with these upper and lower 32 bits. It is read from bytes: what V8 puts
 * together of two strings is copied and hashed by its slow code when a map is asked
 * for it, which took twice as long as all of this.
 */
export function joinId(upper: number, lower: number): Id {
	const top = upper * 2 ** 22 + (lower >>> 10);
	/** The digits before the last ten, and the last ten. */
	const high = Math.floor(top / TENS);
	const low = (top - high * TENS) * 2 ** 10 + (lower & 1_023);
	if (high === 0) return String(low) as Id;
	const middle = Math.floor(low / 100_000);
	let at = spell(low - middle * 100_000, MAX_DIGITS, 5);
	at = spell(middle, at, 5);
	at = spell(high, at, 1);
	return SPELLED.toString("latin1", at, MAX_DIGITS) as Id;
}

/** Writes at least so many digits, before `end`. Returns where they begin. Numbers below 2^31 are divided in a third of the time that others take. */
function spell(value: number, end: number, least: number): number {
	let at = end;
	let left = value | 0;
	while (left > 0 || at > end - least) {
		const tens = (left / 10) | 0;
		SPELLED[--at] = ZERO + left - tens * 10;
		left = tens;
	}
	return at;
}

/** Digits of the lower part of an id. Both parts of 19 digits are exact as numbers. */
const LOW_DIGITS = 10;
const MAX_DIGITS = 19;
const TENS = 9_765_625;
const ZERO = 48;
const SPELLED = Buffer.alloc(MAX_DIGITS);
