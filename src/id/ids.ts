/**
 * Ids as Pinterest published them ("Sharding Pinterest"): 64 bits, of which
 *
 *     63 62 | 61 … 46 | 45 … 36 | 35 … 0
 *     zero  | shard   | type    | local id
 *
 * Outside this file an id is always its canonical decimal string, never a
 * JavaScript number, which holds 53 bits.
 */
declare const idBrand: unique symbol;
export type Id = string & { readonly [idBrand]: "Id" };

interface IdParts {
	/** 0 to 65,535 */
	readonly shard: number;
	/** 0 to 1,023: the number in the type's `@object` */
	readonly type: number;
	/** 0 to 2^36 - 1: the row in the type's table; 0 is no row but the root of a list */
	readonly local: number;
}

export const MAX_SHARD = 2 ** 16 - 1;
export const MAX_TYPE = 2 ** 10 - 1;
export const MAX_LOCAL = 2 ** 36 - 1;

/** Digits in the lower half of an id. The two halves are read one after the other. */
const LOW_DIGITS = 10;
const ZERO = 48;
const CANONICAL = /^(?:0|[1-9][0-9]{0,19})$/;

export function packId({ shard, type, local }: IdParts): Id {
	check("shard", shard, MAX_SHARD);
	check("type", type, MAX_TYPE);
	check("local", local, MAX_LOCAL);
	return String(
		(BigInt(shard) << 46n) | (BigInt(type) << 36n) | BigInt(local),
	) as Id;
}

/** The first and the last id that a row of this type can have on this shard. */
export function rowIds(shard: number, type: number): readonly [bigint, bigint] {
	return [
		BigInt(packId({ shard, type, local: 1 })),
		BigInt(packId({ shard, type, local: MAX_LOCAL })),
	];
}

export function unpackId(id: Id): IdParts {
	const top = topOf(id);
	const low = lowOf(id);
	const shard = Math.floor(top / 2 ** 36);
	const inShard = top - shard * 2 ** 36;
	const type = Math.floor(inShard / 2 ** 26);
	const localTop = inShard - type * 2 ** 26;
	return { shard, type, local: localTop * 2 ** 10 + (low % 2 ** 10) };
}

/** As `unpackId`, without an object for each id. */
export function shardOf(id: Id): number {
	return Math.floor(topOf(id) / 2 ** 36);
}

export function typeOf(id: Id): number {
	return Math.floor(topOf(id) / 2 ** 26) % 2 ** 10;
}

/**
 * The id without its lowest ten bits, below 2^52. The digits are read in two
 * halves, and 10^10 = 9,765,625 * 2^10, so that all numbers are exact: BigInt
 * took three times as long (0.1 µs an id, measured), and this is done for each
 * object that is read. Throws a TypeError if it has anything but digits.
 */
function topOf(id: Id): number {
	let high = 0;
	const middle = id.length - LOW_DIGITS;
	for (let at = 0; at < middle; at++) high = high * 10 + digitAt(id, at);
	return high * 9_765_625 + Math.floor(lowOf(id) / 2 ** 10);
}

/** The lower half of an id, as a number. */
function lowOf(id: Id): number {
	let low = 0;
	const { length } = id;
	for (
		let at = length > LOW_DIGITS ? length - LOW_DIGITS : 0;
		at < length;
		at++
	)
		low = low * 10 + digitAt(id, at);
	return low;
}

/** Throws for another character: a text that is no id must not become one, nor a part of SQL. */
function digitAt(id: Id, at: number): number {
	const digit = id.charCodeAt(at) - ZERO;
	if (digit >= 0 && digit <= 9) return digit;
	throw new TypeError(`An id must be a decimal, got ${JSON.stringify(id)}.`);
}

/**
 * Parses an id from a client. `"malformed"`: not a canonical decimal of at most
 * 64 bits. `"reserved"`: well formed, but its two top bits are not zero, so no
 * such object can exist. The id is a string of its own: caches keep ids, and V8
 * keeps a whole document for as long as a part of its text.
 */
export function parseId(text: string): Id | "malformed" | "reserved" {
	if (!CANONICAL.test(text)) return "malformed";
	const bits = BigInt(text);
	if (bits >> 64n !== 0n) return "malformed";
	return bits >> 62n === 0n ? (String(bits) as Id) : "reserved";
}

/** Parses an id from our own storage. Throws if it is not one, because the data is damaged. */
export function parseStoredId(text: string): Id {
	const id = parseId(text);
	if (id === "malformed" || id === "reserved") {
		throw new TypeError(`The stored id ${text} is invalid.`);
	}
	return id;
}

function check(name: string, value: number, max: number): void {
	if (!Number.isInteger(value) || value < 0 || value > max) {
		throw new RangeError(
			`The ${name} of an id must be an integer from 0 to ${max}, got ${value}.`,
		);
	}
}

/** Numeric order. */
export function compareIds(a: Id, b: Id): number {
	// Decimal strings without leading zeros: the longer one is greater.
	return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
