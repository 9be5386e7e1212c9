import { joinId, splitId } from "../../id/idWords.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";

/*
 * A JSON object as few bytes. Objects of a type have the same fields, so which
 * fields these are, and of which kind their values, is kept once, as a shape. An
 * object is the number of its shape and its values: ids and times as numbers, and
 * behind them all texts in one piece, as V8 makes a string of bytes in 0.1 µs
 * however short it is.
 *
 *     head: 2 bytes for its length and how texts are spelled, then by value:
 *     id 8 · time 6 · fraction 8 · others as numbers of 7 bits a byte
 *     texts: Latin-1, or UTF-8 if that has not all of their letters
 *
 * If no shape is left, the only text is the JSON of the object.
 */

/** What is kept of a value. */
const NULL = 0;
const FALSE = 1;
const TRUE = 2;
/** Its length. */
const TEXT = 3;
const ID = 4;
/** Milliseconds since 1970. */
const TIME = 5;
/** Not negative. */
const INTEGER = 6;
const NUMBER = 7;
/** The number of its shape, and its values. */
const OBJECT = 8;
/** The length of its JSON. */
const LIST = 9;
type Kind = number;

interface Shape {
	readonly number: number;
	readonly names: readonly string[];
	readonly kinds: readonly Kind[];
}

/** Writes the object. Returns the number of bytes; -1 if it has no room, or something in it could not come back as it is. */
export function packJson(data: JsonObject, into: Buffer): number {
	written = HEAD_START;
	texts = "";
	let head = HEAD_START;
	if (writeObject(data, into, 0) && written <= MAX_HEAD) head = written;
	else if (isSpelled(data)) texts = JSON.stringify(data);
	else return -1;
	const isLatin1 = !BEYOND_LATIN_1.test(texts);
	if (texts.length * (isLatin1 ? 1 : 3) > into.length - head) return -1;
	// Half of a pair of surrogates would be lost.
	if (!isLatin1 && !texts.isWellFormed()) return -1;
	const encoding = isLatin1 ? "latin1" : "utf8";
	const length = into.write(texts, head, encoding);
	const start = head * 2 + (isLatin1 ? 0 : 1);
	into[0] = start & 0xff;
	into[1] = start >>> 8;
	return head + length;
}

/** The object that `packJson` wrote there. */
export function unpackJson(
	from: Buffer,
	start: number,
	end: number,
): JsonObject {
	const head = (from[start] as number) + (from[start + 1] as number) * 256;
	const textsAt = start + (head >>> 1);
	texts = from.toString((head & 1) === 0 ? "latin1" : "utf8", textsAt, end);
	readAt = start + HEAD_START;
	if (readAt === textsAt) return JSON.parse(texts);
	textAt = 0;
	return readObject(from);
}

function writeObject(data: JsonObject, into: Buffer, depth: number): boolean {
	const shape = shapeOf(data, depth);
	if (shape === null) return false;
	writeInteger(shape.number, into);
	const { names, kinds } = shape;
	// The head has two bytes for its length, and one value takes some.
	if (written + names.length * MOST_BYTES > MAX_HEAD) return false;
	for (let at = 0; at < names.length; at++) {
		const value = data[names[at] as string] as JsonValue;
		const kind = kinds[at] as Kind;
		if (kind < TEXT) continue;
		if (kind === TEXT) writeText(value as string, into);
		else if (kind === ID) {
			splitId(value as string, WORDS);
			into.writeUInt32LE(WORDS[0] as number, written);
			into.writeUInt32LE(WORDS[1] as number, written + 4);
			written += 8;
		} else if (kind === TIME) {
			into.writeUIntLE(Date.parse(value as string), written, 6);
			written += 6;
		} else if (kind === INTEGER) writeInteger(value as number, into);
		else if (kind === NUMBER) {
			into.writeDoubleLE(value as number, written);
			written += 8;
		} else if (kind === LIST) writeText(JSON.stringify(value), into);
		else if (!writeObject(value as JsonObject, into, depth + 1)) return false;
	}
	return true;
}

function readObject(from: Buffer): JsonObject {
	const { names, kinds } = SHAPES[readInteger(from)] as Shape;
	const object: Record<string, JsonValue> = {};
	for (let at = 0; at < names.length; at++) {
		object[names[at] as string] = readValue(kinds[at] as Kind, from);
	}
	return object;
}

function readValue(kind: Kind, from: Buffer): JsonValue {
	switch (kind) {
		case NULL:
			return null;
		case FALSE:
			return false;
		case TRUE:
			return true;
		case TEXT:
			return readText(from);
		case ID: {
			const at = readAt;
			readAt += 8;
			return joinId(read32(from, at), read32(from, at + 4));
		}
		case TIME: {
			const at = readAt;
			readAt += 6;
			const upper = (from[at + 4] as number) + (from[at + 5] as number) * 256;
			return spellTime(upper * 2 ** 32 + read32(from, at));
		}
		case INTEGER:
			return readInteger(from);
		case NUMBER: {
			readAt += 8;
			return from.readDoubleLE(readAt - 8);
		}
		case LIST:
			return JSON.parse(readText(from));
		default:
			return readObject(from);
	}
}

/** Null for an object that is not packed. */
function shapeOf(data: JsonObject, depth: number): Shape | null {
	const names = Object.keys(data);
	const kinds: Kind[] = [];
	let key = "";
	for (const name of names) {
		const kind = kindOf(data[name] as JsonValue, depth);
		// As the name of what is assigned, it would change the prototype.
		if (kind === null || name === "__proto__") return null;
		kinds.push(kind);
		key += `${name.length} ${name}${kind}`;
	}
	let shape = SHAPE_BY_KEY.get(key);
	if (shape === undefined) {
		if (SHAPES.length === MAX_SHAPES || names.length > MAX_NAMES) return null;
		shape = { number: SHAPES.length, names, kinds };
		SHAPES.push(shape);
		SHAPE_BY_KEY.set(key, shape);
	}
	return shape;
}

function kindOf(value: JsonValue, depth: number): Kind | null {
	if (value === null) return NULL;
	switch (typeof value) {
		case "boolean":
			return value ? TRUE : FALSE;
		case "number":
			return Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0)
				? INTEGER
				: NUMBER;
		case "string":
			if (value.length >= LONG_ID && splitId(value, WORDS)) return ID;
			return isTime(value) ? TIME : TEXT;
		default:
			if (!Array.isArray(value)) return depth < MAX_DEPTH ? OBJECT : null;
			return isSpelled(value) ? LIST : null;
	}
}

/** Whether JSON spells it as it is: no number in it is -0 or beyond the largest one, and it is not so deep that the stack has no room for that. */
function isSpelled(value: JsonValue, depth = 0): boolean {
	if (typeof value === "number") {
		return Number.isFinite(value) && !Object.is(value, -0);
	}
	if (typeof value !== "object" || value === null) return true;
	if (depth === MAX_SPELLED_DEPTH) return false;
	return Object.values(value).every((one) => isSpelled(one, depth + 1));
}

function isTime(text: string): boolean {
	if (text.length !== TIME_LETTERS || text[23] !== "Z") return false;
	const ms = Date.parse(text);
	return ms >= 0 && spellTime(ms) === text;
}

/** As `Date.toISOString` does, in a third of its time. Of years from 1970 to 9999. */
function spellTime(ms: number): string {
	const days = Math.floor(ms / 86_400_000);
	if (days !== timeDay) {
		timeDay = days;
		TIME_SPELLED.write(new Date(ms).toISOString(), "latin1");
	}
	let left = (ms - days * 86_400_000) | 0;
	const hours = (left / 3_600_000) | 0;
	left -= hours * 3_600_000;
	const minutes = (left / 60_000) | 0;
	left -= minutes * 60_000;
	const seconds = (left / 1_000) | 0;
	left -= seconds * 1_000;
	write2(11, hours);
	write2(14, minutes);
	write2(17, seconds);
	const hundreds = (left / 100) | 0;
	TIME_SPELLED[20] = ZERO + hundreds;
	write2(21, left - hundreds * 100);
	return TIME_SPELLED.toString("latin1", 0, TIME_LETTERS);
}

function write2(at: number, value: number): void {
	const tens = (value / 10) | 0;
	TIME_SPELLED[at] = ZERO + tens;
	TIME_SPELLED[at + 1] = ZERO + value - tens * 10;
}

function writeText(text: string, into: Buffer): void {
	writeInteger(text.length, into);
	texts += text;
}

function readText(from: Buffer): string {
	const start = textAt;
	textAt += readInteger(from);
	return texts.slice(start, textAt);
}

function writeInteger(value: number, into: Buffer): void {
	let left = value;
	while (left > 127) {
		const rest = Math.floor(left / 128);
		into[written++] = left - rest * 128 + 128;
		left = rest;
	}
	into[written++] = left;
}

function readInteger(from: Buffer): number {
	let value = 0;
	let factor = 1;
	for (;;) {
		const byte = from[readAt++] as number;
		if (byte < 128) return value + byte * factor;
		value += (byte - 128) * factor;
		factor *= 128;
	}
}

function read32(from: Buffer, at: number): number {
	return (
		((from[at] as number) |
			((from[at + 1] as number) << 8) |
			((from[at + 2] as number) << 16) |
			((from[at + 3] as number) << 24)) >>>
		0
	);
}

/** Those of all caches. There are few for each type: one more where a field may be null. */
const SHAPES: Shape[] = [];
const SHAPE_BY_KEY = new Map<string, Shape>();
const MAX_SHAPES = 4_096;
const MAX_NAMES = 256;
const MAX_DEPTH = 4;
const MAX_SPELLED_DEPTH = 64;
const HEAD_START = 2;
/** One bit of two bytes says how texts are spelled. */
const MAX_HEAD = 0x7fff;
/** No value takes more bytes in the head. */
const MOST_BYTES = 8;
/** A shorter one takes as little as a text. */
const LONG_ID = 10;
const TIME_LETTERS = 24;
const ZERO = 48;
const BEYOND_LATIN_1 = /[\u0100-\uffff]/;

// What is written or read at the moment. Nothing waits in between.
const WORDS = new Uint32Array(2);
let written = 0;
let readAt = 0;
let texts = "";
let textAt = 0;
/** The time that was spelled last, and the day of it. */
const TIME_SPELLED = Buffer.alloc(TIME_LETTERS);
let timeDay = -1;
