import { MappingError } from "./mappingError.ts";

/** One row of an old table, by column. Times are texts, as the old database writes them. */
export type Row = Readonly<Record<string, unknown>>;

/** What makes the value of a field of a row: a column's name, a function, or what `ref`, `utc` and their kin return. */
export type Value = string | ((row: Row) => unknown) | Conversion;

/** How columns become a value. */
export interface Conversion {
	readonly columns: readonly string[];
	/** The type that a reference leads to. */
	readonly target?: string;
	/** Whether a reference to what is not there is none. */
	readonly isOptional?: boolean;
	read(row: Row): unknown;
}

interface TableMapping {
	readonly table: string;
	/** SQL that the rows have to fulfil, for a table of which only some rows are meant: `likeable_type = 'Photo'`. */
	readonly where?: string;
	/** The same as a function, for files too. */
	readonly only?: (row: Row) => boolean;
	/** The column that says when the row was last changed, for passes with `--changed`. */
	readonly changed?: string;
	/** The row is deleted if this column is neither null nor false, or this function says so. A row that is gone needs nothing here. */
	readonly deleted?: string | ((row: Row) => boolean);
	/** The time in lists, which gives their order. */
	readonly at?: Value;
	/**
	 * For `--follow`: the tables whose rows make those of a view, and their columns
	 * that hold its key; for edges, those that hold the columns of `from` and `to`
	 * (default: the table itself, with these columns).
	 */
	readonly log?: Readonly<Record<string, string | readonly string[]>>;
}

/** How the rows of a table become objects of a type. */
export interface TypeMapping<Field extends string = string>
	extends TableMapping {
	/** The columns of the primary key. */
	readonly key: string | readonly string[];
	readonly fields: { readonly [F in Field]?: Value };
}

/** How the rows of a table become edges. */
export interface EdgeMapping extends TableMapping {
	/** The columns of the primary key (default: those of `from` and `to`). */
	readonly key?: string | readonly string[];
	readonly from: Conversion;
	readonly to: Conversion;
}

/** The fields of each type that are migrated, and the edges: `migrate scaffold` writes it from the SDL. */
export interface Shape {
	readonly types: Readonly<Record<string, string>>;
	readonly edges: string;
}

export interface Migration<S extends Shape = Shape> {
	/** `mysql://`, `postgres://`, or `file:` and a folder with a file for each table, as `photos.ndjson` or `photos.csv`. */
	readonly source: string;
	/** A replica of the source: passes wait while it is behind. One that the source knows of, as PostgreSQL does, needs nothing here. */
	readonly replica?: string;
	readonly types: {
		readonly [T in keyof S["types"]]?: TypeMapping<S["types"][T]>;
	};
	readonly edges?: { readonly [E in S["edges"]]?: EdgeMapping };
}

/** Export what it returns as default. */
export function migration<S extends Shape = Shape>(
	mapping: Migration<S>,
): Migration<S> {
	return mapping;
}

interface MissingObject {
	/** What a reference becomes to an object that has no row, or one that is marked as deleted: `null` is none (default: the row is refused). */
	readonly missing?: "null";
}

/** By row: keys that it refers to, of objects that have no row, or one that is marked as deleted. */
const absent = new WeakMap<Row, ReadonlySet<string>>();

/** Lets references of this row be null that may, if they lead to one of these keys. */
export function markAbsent(row: Row, keys: ReadonlySet<string>): void {
	absent.set(row, keys);
}

/** The object of a type whose key these columns have; null if one of them is null. */
export function ref(
	type: string,
	columns: string | readonly string[],
	{ missing }: MissingObject = {},
): Conversion {
	const all = typeof columns === "string" ? [columns] : columns;
	return {
		columns: all,
		target: type,
		...(missing === "null" && { isOptional: true }),
		read(row) {
			const key = keyOf(type, all, row);
			return key !== null && absent.get(row)?.has(key) ? null : key;
		},
	};
}

/** The key of a row in this graph: `Photo:8123`. Null if one of the columns is null. */
export function keyOf(
	type: string,
	columns: readonly string[],
	row: Row,
): string | null {
	const parts = columns.map((column) => row[column] ?? null);
	return parts.includes(null)
		? null
		: `${type}:${parts.map((part) => (part instanceof Date ? part.toISOString() : String(part))).join(":")}`;
}

/** The columns of a key; none if it names none. */
export function keysOf(
	key: string | readonly string[] | undefined,
): readonly string[] {
	return key === undefined ? [] : typeof key === "string" ? [key] : key;
}

/** The columns that a value names; none for a function. */
export function columnsOf(value: Value | undefined): readonly string[] {
	if (typeof value === "string") return [value];
	return typeof value === "object" ? (value.columns ?? []) : [];
}

/** A time without a zone that is in UTC; or with a zone, which counts. */
export function utc(column: string, options: ZeroDate = {}): Conversion {
	return local(column, "UTC", options);
}

interface ZeroDate {
	/** What a date of zeros becomes: `null` is no value (default: the row is refused). */
	readonly zero?: "null";
}

/** A time without a zone that is in this zone, such as `Europe/Berlin`. Of an hour that a clock shows twice, the first one. */
export function local(
	column: string,
	zone: string,
	{ zero }: ZeroDate = {},
): Conversion {
	const offsetAt = offsets(zone);
	return {
		columns: [column],
		read(row) {
			const given = row[column] ?? null;
			if (given === null || given === "") return null;
			const text = given instanceof Date ? given.toISOString() : String(given);
			if (/^(?:0000-|\d{4}-00-|\d{4}-\d\d-00)/.test(text)) {
				if (zero === "null") return null;
				throw new MappingError(
					`${column} is the date of zeros ${text}: write utc("${column}", { zero: "null" }) for no value, or a function`,
				);
			}
			return readTime(column, text, offsetAt);
		},
	};
}

/** Null if the column is empty or white space. */
export function blankToNull(column: string): Conversion {
	return {
		columns: [column],
		read(row) {
			const value = row[column] ?? null;
			return typeof value === "string" && value.trim() === "" ? null : value;
		},
	};
}

/** The text of a column of latin1 whose bytes are UTF-8, as old programs stored it: `Ã©` becomes `é`. Any other text stays as it is. */
export function utf8InLatin1(column: string): Conversion {
	return {
		columns: [column],
		read(row) {
			const value = row[column] ?? null;
			if (typeof value !== "string") return value;
			const bytes = cp1252Bytes(value);
			if (bytes === null) return value;
			try {
				return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
			} catch {
				return value;
			}
		},
	};
}

let codes: ReadonlyMap<string, number> | undefined;

/** Null for a text with other characters than those of Windows-1252, which is what MySQL calls latin1. */
function cp1252Bytes(text: string): Uint8Array | null {
	codes ??= new Map(
		Array.from({ length: 256 }, (_, code) => [
			new TextDecoder("windows-1252").decode(Uint8Array.of(code)),
			code,
		]),
	);
	const bytes = new Uint8Array(text.length);
	for (let at = 0; at < text.length; at++) {
		const code = codes.get(text.charAt(at));
		if (code === undefined) return null;
		bytes[at] = code;
	}
	return bytes;
}

const DAY_MS = 86_400_000;
const TIME =
	/^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/;

function readTime(
	column: string,
	text: string,
	offsetAt: (time: number) => number,
): string {
	const match = TIME.exec(text);
	const refuse = () => new MappingError(`${column} is no time: ${text}`);
	if (match === null) throw refuse();
	const [, year, month, day, hour = 0, minute = 0, second = 0] = match;
	const [fraction = "", zone] = match.slice(7);
	const ms = Number(`${fraction}000`.slice(0, 3));
	const parts = [year, month, day, hour, minute, second].map(Number);
	const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts;
	// Date.UTC takes the year 9 for 1909.
	const date = new Date(0);
	date.setUTCFullYear(y, mo - 1, d);
	const plain = date.setUTCHours(h, mi, s, ms);
	if (new Date(plain).getUTCDate() !== d || mo > 12 || h > 23) throw refuse();
	if (zone !== undefined) {
		const [, sign = "+", hours = 0, minutes = 0] =
			/^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
		const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
		return iso(plain - (sign === "-" ? -offset : offset));
	}
	// Near a change of the clock both offsets are tried, the one before it first.
	const before = offsetAt(plain - DAY_MS);
	const time = [before, offsetAt(plain + DAY_MS)]
		.map((offset) => ({ time: plain - offset, offset }))
		.find(({ time, offset }) => offsetAt(time) === offset)?.time;
	return iso(time ?? plain - before);
}

function iso(time: number): string {
	return new Date(time).toISOString();
}

/** How far the clocks of a zone are before UTC at a time, in milliseconds. */
function offsets(zone: string): (time: number) => number {
	if (zone === "UTC") return () => 0;
	let format: Intl.DateTimeFormat;
	try {
		format = new Intl.DateTimeFormat("en-US", {
			timeZone: zone,
			hourCycle: "h23",
			year: "numeric",
			month: "numeric",
			day: "numeric",
			hour: "numeric",
			minute: "numeric",
			second: "numeric",
		});
	} catch {
		throw new MappingError(`There is no time zone ${zone}.`);
	}
	const offsetAt = (time: number) => {
		const parts = Object.fromEntries(
			format
				.formatToParts(time)
				.map(({ type, value }) => [type, Number(value)]),
		);
		const {
			year = 0,
			month = 1,
			day = 1,
			hour = 0,
			minute = 0,
			second = 0,
		} = parts;
		const shown = Date.UTC(year, month - 1, day, hour, minute, second);
		return shown - Math.floor(time / 1_000) * 1_000;
	};
	/** Null for a day in which clocks change: they do that once a day at most. */
	const offsetOfDay = new Map<number, number | null>();
	return (time) => {
		const day = Math.floor(time / DAY_MS);
		let offset = offsetOfDay.get(day);
		if (offset === undefined) {
			const start = offsetAt(day * DAY_MS);
			offset = start === offsetAt((day + 1) * DAY_MS) ? start : null;
			offsetOfDay.set(day, offset);
		}
		return offset ?? offsetAt(time);
	};
}
