import type { Domain } from "../../graph/domain.ts";
import type { Store } from "../../graph/store/store.ts";
import { DATE_TIME_EXAMPLE, isDateTime } from "../../model/dateTime.ts";
import type { FieldReader, FieldReaders } from "../../model/fieldReaders.ts";
import {
	keyFields,
	type Mapping,
	type ObjectType,
	type Reference,
} from "../../model/types.ts";
import type { JsonValue } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import type { RawLine } from "./readBatches.ts";

/** One line, parsed (format: docs/how-to/import-and-verify.md, "Import"). */
export type Line = ObjectLine | EdgeLine | BadLine;

export interface ObjectLine {
	readonly kind: "object";
	readonly number: number;
	readonly type: ObjectType;
	readonly key: string;
	/** The stored JSON, without references. */
	readonly data: Record<string, JsonValue>;
	/** Its references, by import key. */
	readonly references: readonly NamedReference[];
	/** Keys of the stored JSON of the fields that are given as null. A change clears them. */
	readonly cleared: readonly string[];
	/** Changes with what the line says. Null: the line creates its object, and changes none. */
	readonly rev: string | null;
	/** Whether the object is to be deleted. Only the key counts then. */
	readonly isDeleted: boolean;
	/** Its time in lists, in milliseconds since 1970; null: the order of the lines. */
	readonly at: number | null;
}

interface NamedReference {
	readonly reference: Reference;
	readonly key: string;
}

export interface EdgeLine {
	readonly kind: "edge";
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: string;
	readonly to: string;
	/** Whether the edge is to be removed. */
	readonly isDeleted: boolean;
	/** Its time in both lists, in milliseconds since 1970; null: the order of the lines. */
	readonly at: number | null;
}

export interface BadLine {
	readonly kind: "bad";
	readonly number: number;
	readonly reason: string;
	/** What the line refers to, if that is not there. */
	readonly missing?: Missing;
}

/** An object that a line refers to, and that no line before it has. */
export interface Missing {
	/** That refers to it. */
	readonly field: string;
	/** Its import key. */
	readonly key: string;
	/** Whether what the line makes is deleted with it: an edge with both ends, an object with its parent and its owner. */
	readonly isWhole: boolean;
}

/** Characters of an import key. Keys are stored in lookup rows. */
const MAX_KEY = 200;

/** The deepest nesting of lists and objects. No field of a schema comes near it. */
const MAX_DEPTH = 100;

interface StoredFieldReader {
	/** The field's key in the stored JSON. */
	readonly key: string;
	readonly read: FieldReader;
}

interface RequiredField {
	readonly field: string;
	/** Keys in the stored JSON, of the field and of the field that replaces it. */
	readonly key: string;
	readonly defaultKey: string | undefined;
}

interface TypeFields {
	readonly type: ObjectType;
	readonly stored: ReadonlyMap<string, StoredFieldReader>;
	readonly references: ReadonlyMap<string, Reference>;
	/** Taken from the parent if it is not given. */
	readonly inheritedOwner: Reference | null;
	/** Fields that have to be given, or whose stand-in has. */
	readonly required: readonly RequiredField[];
}

/** Ends the parsing of a line. `read` catches it. */
class LineError extends Error {}

export interface LineReader {
	read(text: RawLine, number: number): Line;
}

export function createLineReader(
	{ model, domain }: Pick<Store, "model" | "domain">,
	readers: FieldReaders,
): LineReader {
	const types = new Map(
		[...model.objects.values()].map((type) => [
			type.name,
			fieldsOf(domain, readers, type),
		]),
	);
	const edges = [...model.mappings.values()]
		.filter((mapping) => mappingProblem(mapping) === null)
		.map(({ name }) => name);

	function read(text: RawLine, number: number): Line {
		try {
			const line = parse(text);
			if ("type" in line) return readObject(line, number);
			if ("edge" in line) return readEdge(line, number);
			throw new LineError('The line needs "type" or "edge".');
		} catch (thrown) {
			if (!(thrown instanceof LineError)) throw thrown;
			return { kind: "bad", number, reason: thrown.message };
		}
	}

	function readObject(line: LineObject, number: number): ObjectLine {
		rejectUnknownMembers(line, [
			"type",
			"key",
			"fields",
			"at",
			"rev",
			"deleted",
		]);
		const fields = found(types, line, "type", [...types.keys()]);
		const key = readKey(line, "key");
		const isDeleted = readDeleted(line);
		const at = readTime(line);
		const rev = readRev(line);
		const given = line.fields ?? {};
		if (!isRecord(given)) {
			throw new LineError(`fields must be an object, got ${excerpt(given)}.`);
		}
		const data: Record<string, JsonValue> = {};
		const references: NamedReference[] = [];
		const cleared: string[] = [];
		const said: string[] = [];
		for (const [field, value] of Object.entries(given)) {
			const reference = fields.references.get(field);
			const stored = fields.stored.get(field);
			// As in a mutation, null counts as not given.
			if (reference !== undefined) {
				if (value === null) {
					if (reference !== fields.inheritedOwner) cleared.push(reference.key);
					continue;
				}
				references.push({ reference, key: readKey(given, field) });
			} else if (stored !== undefined) {
				if (value === null) {
					cleared.push(stored.key);
					continue;
				}
				const read = stored.read(value);
				if ("problem" in read) throw new LineError(`${field} ${read.problem}.`);
				if (read.value === null) {
					cleared.push(stored.key);
					continue;
				}
				data[stored.key] = read.value;
			} else throw unknownField(fields, field);
			said.push(field);
		}
		for (const { field, key, defaultKey } of isDeleted ? [] : fields.required) {
			if (said.includes(field)) continue;
			const value = defaultKey === undefined ? undefined : data[defaultKey];
			if (value === undefined) {
				throw new LineError(`${fields.type.name} needs the field ${field}.`);
			}
			data[key] = value;
		}
		return {
			kind: "object",
			number,
			type: fields.type,
			key,
			data,
			references,
			// A field that is required has its default instead.
			cleared: cleared.filter((key) => !(key in data)),
			rev,
			isDeleted,
			at,
		};
	}

	function readEdge(line: LineObject, number: number): EdgeLine {
		rejectUnknownMembers(line, ["edge", "from", "to", "at", "deleted"]);
		const mapping = found(model.mappings, line, "edge", edges);
		const problem = mappingProblem(mapping);
		if (problem !== null) throw new LineError(problem);
		const [from, to] = [readKey(line, "from"), readKey(line, "to")];
		if (from === to) {
			throw new LineError("from and to must differ.");
		}
		const [isDeleted, at] = [readDeleted(line), readTime(line)];
		return { kind: "edge", number, mapping, from, to, isDeleted, at };
	}

	return { read };
}

type LineObject = { readonly [key: string]: JsonValue };

function parse(text: RawLine): LineObject {
	if (typeof text !== "string" && "problem" in text) {
		throw new LineError(text.problem);
	}
	let line: JsonValue;
	try {
		line = JSON.parse(
			typeof text === "string" ? text : text.text(),
		) as JsonValue;
	} catch (thrown) {
		throw new LineError(`Not JSON: ${(thrown as Error).message}`);
	}
	if (isDeeperThan(MAX_DEPTH, line)) {
		throw new LineError(
			`The line has lists or objects in more than ${MAX_DEPTH} levels.`,
		);
	}
	if (!isRecord(line)) {
		throw new LineError(
			`The line must be a JSON object, got ${excerpt(line)}.`,
		);
	}
	return line;
}

/** JSON.parse takes any depth, but what is written as functions that call themselves would run out of stack. */
function isDeeperThan(levels: number, value: JsonValue): boolean {
	if (typeof value !== "object" || value === null) return false;
	return (
		levels === 0 ||
		Object.values(value).some((part) => isDeeperThan(levels - 1, part))
	);
}

/** What the line's `type` or `edge` names. */
function found<T>(
	named: ReadonlyMap<string, T>,
	line: LineObject,
	member: "type" | "edge",
	names: readonly string[],
): T {
	const name = line[member];
	if (typeof name !== "string") {
		throw new LineError(`${member} must be a name, got ${excerpt(name)}.`);
	}
	const value = named.get(name);
	if (value !== undefined) return value;
	throw new LineError(
		`Unknown ${member} ${excerpt(name)}.${didYouMean(name, names)} The ${member}s are ${names.join(", ")}.`,
	);
}

/** Why a line must not give edges of a mapping; null if it may. */
export function mappingProblem({
	name,
	from,
	prefixKeys,
	to,
	inverse,
}: Mapping): string | null {
	if (inverse?.kind === "reference") {
		return `${name} is derived from the field ${inverse.field} of ${to}: set that field instead.`;
	}
	if (inverse?.kind === "source") {
		return `${name} is the inverse of ${inverse.mapping}: give that edge instead.`;
	}
	if (prefixKeys !== null) {
		return `${name} is derived from the names of each ${to}: creating the objects adds them.`;
	}
	return from === null
		? `${name} lists every ${to}: creating the objects adds them.`
		: null;
}

function fieldsOf(
	domain: Domain,
	readers: FieldReaders,
	type: ObjectType,
): TypeFields {
	const colocated = domain.placement.colocateWith(type.name);
	const parent = domain.visibility.parentOf(type.name);
	const keys = new Map(
		[...keyFields(type), ...type.stored].map(({ field, key }) => [field, key]),
	);
	const required = new Map(
		[
			...type.stored.filter(({ required }) => required),
			...[colocated, parent].filter((reference) => reference !== null),
		].map(({ field, key }) => {
			const defaultKey = keys.get(
				readers.defaultFieldOf(type.name, field) ?? "",
			);
			return [field, { field, key, defaultKey }];
		}),
	);
	return {
		type,
		stored: new Map(
			[...keys].map(([field, key]) => [
				field,
				{ key, read: readers.readerOf(type.name, field) },
			]),
		),
		references: new Map(
			type.references.map((reference) => [reference.field, reference]),
		),
		inheritedOwner: domain.visibility.inheritedOwnerOf(type.name),
		required: [...required.values()],
	};
}

function unknownField({ type, stored, references }: TypeFields, field: string) {
	const known = [...stored.keys(), ...references.keys()];
	return new LineError(
		`${type.name} has no field ${excerpt(field)} to import.${didYouMean(field, known)}`,
	);
}

function rejectUnknownMembers(
	line: LineObject,
	names: readonly string[],
): void {
	for (const name of Object.keys(line)) {
		if (!names.includes(name)) {
			throw new LineError(
				`Unknown member ${excerpt(name)}. A line has ${names.map((name) => `"${name}"`).join(", ")}.`,
			);
		}
	}
}

function readDeleted({ deleted = false }: LineObject): boolean {
	if (typeof deleted === "boolean") return deleted;
	throw new LineError(
		`deleted must be true or false, got ${excerpt(deleted)}.`,
	);
}

/** No time of a list is as late as the year 2255: its sequence would be no safe integer. */
const LATEST = Date.UTC(2250, 0);

function readTime({ at = null }: LineObject): number | null {
	if (at === null) return null;
	const time = typeof at === "string" && isDateTime(at) ? Date.parse(at) : -1;
	if (time >= 0 && time < LATEST) return time;
	throw new LineError(
		`at must be a time like ${DATE_TIME_EXAMPLE}, from 1970 to 2249, got ${excerpt(at)}.`,
	);
}

function readRev({ rev = null }: LineObject): string | null {
	if (rev === null) return null;
	if (typeof rev === "string" && /^[\w-]{1,64}$/.test(rev)) return rev;
	throw new LineError(
		`rev must be 1 to 64 of A-Z a-z 0-9 _ -, got ${excerpt(rev)}.`,
	);
}

function readKey(given: LineObject, name: string): string {
	const key = given[name];
	if (typeof key === "string" && isImportKey(key)) return key;
	if (typeof key !== "string" || key === "" || key.length > MAX_KEY) {
		throw new LineError(
			`${name} must be a key of 1 to ${MAX_KEY} characters, got ${excerpt(key)}.`,
		);
	}
	throw new LineError(
		`${name} must be a key without NUL and unpaired surrogates, got ${excerpt(key)}.`,
	);
}

/** Whether an object can have this import key. */
export function isImportKey(key: string): boolean {
	return (
		key !== "" &&
		key.length <= MAX_KEY &&
		!key.includes("\0") &&
		key.isWellFormed()
	);
}

function isRecord(value: JsonValue): value is LineObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The beginning of a value's JSON, for messages. */
export function excerpt(value: JsonValue | undefined): string {
	const text = value === undefined ? "nothing" : JSON.stringify(value);
	return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
