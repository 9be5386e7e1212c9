import { isDeepStrictEqual } from "node:util";
import {
	readDecisive,
	readUncachedObjects,
} from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import { keyFields, type ObjectType } from "../../model/types.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import type { LineReader, ObjectLine } from "../import/lineReader.ts";
import { readToken } from "../import/revision.ts";
import { goneOf, wholesOf } from "../import/wholes.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { RowLine } from "./plan.ts";

interface FieldComparison {
	readonly field: string;
	readonly there: JsonValue;
	readonly here: JsonValue;
	readonly isEqual: boolean;
}

export interface ObjectComparison {
	readonly key: string;
	/** Here; null if it has none. */
	readonly id: Id | null;
	readonly state:
		| "equal"
		| "differs"
		| "newer here"
		| "missing here"
		| "deleted here"
		| "deleted there"
		| "bad";
	/** Why the row is bad; else null. */
	readonly reason: string | null;
	readonly fields: readonly FieldComparison[];
}

/** Objects as the rows of the old database have them, and as they are here. */
export async function compareObjects(
	store: Store,
	reader: LineReader,
	rows: readonly RowLine[],
): Promise<readonly ObjectComparison[]> {
	const { createdAtField } = store.domain;
	const parsed = rows.map((row) => ({ row, line: parse(reader, row) }));
	const keys = new Set<string>();
	for (const { row, line } of parsed) {
		keys.add(row.key);
		if (typeof line === "string") continue;
		for (const { key } of line.references) keys.add(key);
	}
	const wanted = [...keys].map((key) => ({ name: IMPORT_LOOKUP, key }));
	const found = await readDecisive(store.storage, "lookups", wanted);
	const lookups = new Map(
		wanted.map(({ key }, at) => [key, found[at] ?? null]),
	);
	const contents = await readUncachedObjects(
		store,
		rows.flatMap(({ key }) => lookups.get(key)?.id ?? []),
	);
	const withWhole = await goneWithWhole(store, contents);
	return parsed.map(({ row: { key, isDeleted }, line }) => {
		const lookup = lookups.get(key) ?? null;
		const id = lookup?.id ?? null;
		const data = id === null ? null : (contents.get(id) ?? null);
		const isHere = data !== null && data.active !== false;
		const base = { key, id, reason: null, fields: [] };
		if (isDeleted) {
			return { ...base, state: isHere ? "deleted there" : "equal" };
		}
		if (typeof line === "string")
			return { ...base, state: "bad", reason: line };
		if (data === null) {
			const fields = fieldsOf(line, {}, () => null, createdAtField);
			return { ...base, fields, state: "missing here" };
		}
		const idOf = (one: string) => lookups.get(one)?.id ?? null;
		const fields = fieldsOf(line, data, idOf, createdAtField);
		if (id !== null && withWhole.has(id)) {
			const reason =
				"It belongs to something that is deleted, so it is deleted here too.";
			return { ...base, fields, state: "bad", reason };
		}
		if (!isHere) return { ...base, fields, state: "deleted here" };
		const isEqual = fields.every((field) => field.isEqual);
		const isNewer = data.version !== readToken(lookup?.token ?? "").version;
		return {
			...base,
			fields,
			state: isEqual ? "equal" : isNewer ? "newer here" : "differs",
		};
	});
}

/** Objects that are deleted here because what they belong to is deleted. The old database usually keeps them. */
async function goneWithWhole(
	store: Store,
	contents: ReadonlyMap<Id, JsonObject | null>,
): Promise<ReadonlySet<Id>> {
	const wholes = new Map<Id, readonly Id[]>();
	for (const [id, data] of contents) {
		if (data?.active !== false) continue;
		wholes.set(id, wholesOf(store, id, data));
	}
	if (wholes.size === 0) return new Set();
	const gone = await goneOf(store, [...wholes.values()].flat());
	return new Set(
		[...wholes].flatMap(([id, some]) =>
			some.some((whole) => gone.has(whole)) ? [id] : [],
		),
	);
}

function parse(reader: LineReader, { line }: RowLine): ObjectLine | string {
	if ("problem" in line) return String(line.problem);
	const read = reader.read(JSON.stringify(line), 1);
	if (read.kind === "object") return read;
	return read.kind === "bad" ? read.reason : "It is an edge.";
}

function fieldsOf(
	{ type, data: there, references, cleared }: ObjectLine,
	here: JsonObject,
	idOf: (key: string) => Id | null,
	createdAtField: string | null,
): readonly FieldComparison[] {
	const names = fieldNames(type);
	// An object that says no time was created here, by the import.
	const createdKey = type.stored.find(
		({ field }) => field === createdAtField,
	)?.key;
	const compared = (key: string, value: JsonValue, equals = value) => ({
		field: names.get(key) ?? key,
		there: value,
		here: here[key] ?? null,
		isEqual: isDeepStrictEqual(equals, here[key] ?? null),
	});
	return [
		...Object.entries(there).map(([key, value]) => compared(key, value)),
		...references.map(({ reference, key }) =>
			compared(reference.key, key, idOf(key)),
		),
		...cleared
			.filter((key) => key !== createdKey)
			.map((key) => compared(key, null)),
	];
}

function fieldNames(type: ObjectType) {
	return new Map(
		[...type.stored, ...keyFields(type), ...type.references].map(
			({ key, field }) => [key, field],
		),
	);
}
