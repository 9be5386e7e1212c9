import {
	colocationReference,
	parentReference,
} from "../../graph/read/visibility.ts";
import type { FieldReader, FieldReaders } from "../../model/storedFields.ts";
import type {
	Mapping,
	Model,
	ObjectType,
	Reference,
} from "../../model/types.ts";
import { defaultFields } from "../../model/validators.ts";
import type { JsonValue } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import { MAX_LINE, type RawLine } from "./text.ts";

/** What one line says (CONTRACT, "Import lines"). */
export type Line = ObjectLine | EdgeLine | BadLine;

export interface ObjectLine {
	readonly kind: "object";
	readonly number: number;
	readonly type: ObjectType;
	readonly key: string;
	/** The stored JSON, without references. */
	readonly data: Record<string, JsonValue>;
	/** What its references name: import keys. */
	readonly references: readonly NamedReference[];
}

export interface NamedReference {
	readonly reference: Reference;
	readonly key: string;
}

export interface EdgeLine {
	readonly kind: "edge";
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: string;
	readonly to: string;
}

export interface BadLine {
	readonly kind: "bad";
	readonly number: number;
	readonly reason: string;
}

/** The most characters of an import key: it is kept in a lookup row, beside names and addresses. */
const MAX_KEY = 200;

/** A default that stands for a value nobody gave: such a field has to be given. */
const NOTHING_GIVEN = "";

interface Stored {
	/** In the stored JSON. */
	readonly key: string;
	readonly read: FieldReader;
}

interface RequiredField {
	readonly field: string;
	/** In the stored JSON, of the field and of its stand-in. */
	readonly key: string;
	readonly standIn: string | undefined;
}

interface Fields {
	readonly type: ObjectType;
	readonly stored: ReadonlyMap<string, Stored>;
	readonly references: ReadonlyMap<string, Reference>;
	/** Fields that have to be given, or whose stand-in has. */
	readonly required: readonly RequiredField[];
}

/** A line's end for the reader's own use: caught in `read`. */
class Fault extends Error {}

export interface LineReader {
	read(text: RawLine, number: number): Line;
}

export function createLineReader(
	model: Model,
	readers: FieldReaders,
): LineReader {
	const types = new Map(
		[...model.objects.values()].map((type) => [
			type.name,
			fieldsOf(model, readers, type),
		]),
	);
	const edges = [...model.mappings.values()]
		.filter((mapping) => faultOfMapping(mapping) === null)
		.map(({ name }) => name);

	function read(text: RawLine, number: number): Line {
		try {
			const line = parse(text);
			if ("type" in line) return readObject(line, number);
			if ("edge" in line) return readEdge(line, number);
			throw new Fault('expected a line with "type" or with "edge"');
		} catch (thrown) {
			if (!(thrown instanceof Fault)) throw thrown;
			return { kind: "bad", number, reason: thrown.message };
		}
	}

	function readObject(line: Given, number: number): ObjectLine {
		allow(line, ["type", "key", "fields"]);
		const fields = types.get(String(line.type));
		if (fields === undefined) {
			throw new Fault(
				`expected a type of the model but got: ${show(line.type)}${didYouMean(String(line.type), types.keys())}`,
			);
		}
		const key = readKey(line, "key");
		const given = line.fields ?? {};
		if (!isRecord(given)) {
			throw new Fault(`fields must be an object but got: ${show(given)}`);
		}
		const data: Record<string, JsonValue> = {};
		const references: NamedReference[] = [];
		const said: string[] = [];
		for (const [field, value] of Object.entries(given)) {
			const reference = fields.references.get(field);
			const stored = fields.stored.get(field);
			// As in a mutation, null is not given.
			if (reference !== undefined) {
				if (value === null) continue;
				references.push({ reference, key: readKey(given, field) });
			} else if (stored !== undefined) {
				if (value === null) continue;
				const read = stored.read(value);
				if ("fault" in read) throw new Fault(`${field} ${read.fault}`);
				if (read.value === null) continue;
				data[stored.key] = read.value;
			} else throw unknownField(fields, field);
			said.push(field);
		}
		for (const { field, key, standIn } of fields.required) {
			if (said.includes(field)) continue;
			const value = standIn === undefined ? undefined : data[standIn];
			if (value === undefined) {
				throw new Fault(`${fields.type.name} needs the field ${field}`);
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
		};
	}

	function readEdge(line: Given, number: number): EdgeLine {
		allow(line, ["edge", "from", "to"]);
		const mapping = model.mappings.get(String(line.edge));
		if (mapping === undefined) {
			throw new Fault(
				`expected an edge (${edges.join(", ")}) but got: ${show(line.edge)}${didYouMean(String(line.edge), edges)}`,
			);
		}
		const fault = faultOfMapping(mapping);
		if (fault !== null) throw new Fault(fault);
		const [from, to] = [readKey(line, "from"), readKey(line, "to")];
		if (from === to) {
			throw new Fault("from and to must be two, but got the same key");
		}
		return { kind: "edge", number, mapping, from, to };
	}

	return { read };
}

type Given = { readonly [key: string]: JsonValue };

function parse(text: RawLine): Given {
	if (text === null) {
		throw new Fault(`expected at most ${MAX_LINE} characters but got more`);
	}
	let line: JsonValue;
	try {
		line = JSON.parse(text) as JsonValue;
	} catch (thrown) {
		throw new Fault(`expected JSON but got: ${(thrown as Error).message}`);
	}
	if (!isRecord(line)) {
		throw new Fault(`expected a JSON object but got: ${show(line)}`);
	}
	return line;
}

/** Why lines may not give edges of a mapping; null if they may. */
function faultOfMapping({ name, from, to, inverse }: Mapping): string | null {
	if (inverse?.kind === "reference") {
		return `${name} follows the field ${inverse.field} of ${to}: give it there, not as an edge`;
	}
	if (inverse?.kind === "source") {
		return `${name} is told by ${inverse.mapping}: give that edge instead`;
	}
	return from === null
		? `${name} lists every ${to}: it is written with the objects themselves`
		: null;
}

function fieldsOf(
	model: Model,
	readers: FieldReaders,
	type: ObjectType,
): Fields {
	const near = colocationReference(model, type.name);
	const within = parentReference(model, type.name);
	const keys = new Map(
		[...type.lookups, ...type.stored].map(({ field, key }) => [field, key]),
	);
	const required = new Map(
		[
			...type.stored.filter((field) => field.default === NOTHING_GIVEN),
			...[near, within].filter((reference) => reference !== null),
		].map(({ field, key }) => {
			const standIn = keys.get(defaultFields[`${type.name}.${field}`] ?? "");
			return [field, { field, key, standIn }];
		}),
	);
	return {
		type,
		stored: new Map(
			[...keys].map(([field, key]) => [
				field,
				{ key, read: readers(type.name, field) },
			]),
		),
		references: new Map(
			type.references.map((reference) => [reference.field, reference]),
		),
		required: [...required.values()],
	};
}

function unknownField({ type, stored, references }: Fields, field: string) {
	const known = [...stored.keys(), ...references.keys()];
	return new Fault(
		`${type.name} has no field ${show(field)} to import${didYouMean(field, known)}`,
	);
}

function allow(line: Given, names: readonly string[]): void {
	for (const name of Object.keys(line)) {
		if (!names.includes(name)) {
			throw new Fault(
				`expected ${names.map((name) => `"${name}"`).join(", ")} but got also: ${show(name)}`,
			);
		}
	}
}

function readKey(given: Given, name: string): string {
	const key = given[name];
	if (typeof key !== "string" || key === "" || key.length > MAX_KEY) {
		throw new Fault(
			`${name} must be a key of 1 to ${MAX_KEY} characters but got: ${show(key)}`,
		);
	}
	if (key.includes("\0") || !key.isWellFormed()) {
		throw new Fault(
			`${name} must be a key without NUL and unpaired surrogates but got: ${show(key)}`,
		);
	}
	return key;
}

function isRecord(value: JsonValue): value is Given {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As JSON, its beginning. */
export function show(value: JsonValue | undefined): string {
	const text = value === undefined ? "nothing" : JSON.stringify(value);
	return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
