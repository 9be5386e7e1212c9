import { type GraphQLSchema, isObjectType } from "graphql";
import type { Domain } from "../graph/domain.ts";
import { type Id, packId } from "../id/ids.ts";
import type { Mapping, Model, ObjectType } from "../model/types.ts";
import { isByTime } from "../storage/order.ts";
import { PRESENT } from "../storage/rows.ts";
import type { Table } from "../storage/statements/tables.ts";
import { parseJsonObject } from "../storage/storedObject.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";
import type { Database } from "./databases.ts";
import type { LineBatches } from "./lineFiles.ts";
import type { PublicObjects } from "./publicObjects.ts";
import type { StoredRow } from "./source/dumpSource.ts";

/** A field of a type as a dump for analysis has it. */
interface PublicField {
	readonly name: string;
	/** The key in the stored JSON; null for the id. */
	readonly key: string | null;
	readonly default: JsonValue;
	/** Its type in the SDL, without `!`; `ID` for a reference. */
	readonly type: string;
}

/** Objects of a type, or edges of a mapping, and the table that has them. */
export type PublicTable =
	| {
			readonly kind: "type";
			readonly name: string;
			readonly type: ObjectType;
			readonly fields: readonly PublicField[];
	  }
	| {
			readonly kind: "edge";
			readonly name: string;
			readonly mapping: Mapping;
	  };

/**
 * What a dump for analysis has. Of objects, the fields of the SDL that are stored
 * as they are shown: one with a resolver is left out, because the resolver decides
 * who sees it, as of an e-mail address. Of edges, those that no field of an object
 * says already, in one direction; none of a list that only its owner may read.
 */
export function publicTables(
	model: Model,
	schema: GraphQLSchema,
	{ visibility }: Pick<Domain, "visibility">,
): readonly PublicTable[] {
	const fieldsOf = (name: string) => {
		const type = schema.getType(name);
		return isObjectType(type) ? type.getFields() : {};
	};
	const types = [...model.objects.values()].flatMap((type): PublicTable[] => {
		const sources = model.sources.get(type.name);
		const fields = Object.values(fieldsOf(type.name)).flatMap(
			(field): readonly PublicField[] => {
				const source = sources?.get(field.name);
				const named = { name: field.name };
				if (source?.kind === "id") {
					return [{ ...named, key: null, default: null, type: "ID" }];
				}
				if (source?.kind === "reference") {
					return [{ ...named, key: source.key, default: null, type: "ID" }];
				}
				if (source?.kind !== "stored") return [];
				const sdl = String(field.type).replaceAll("!", "");
				return [{ ...named, ...pick(source), type: sdl }];
			},
		);
		// A type that the schema of clients does not have.
		if (fields.length === 0) return [];
		return [{ kind: "type", name: type.name, type, fields }];
	});
	const edges = [...model.mappings.values()]
		.filter(
			(mapping) =>
				mapping.from !== null &&
				Object.hasOwn(fieldsOf(mapping.from), mapping.field) &&
				!visibility.isPrivateList(mapping) &&
				mapping.inverse?.kind !== "source" &&
				(mapping.inverse?.kind !== "reference" || mapping.order === "POSITION"),
		)
		.map(
			(mapping): PublicTable => ({
				kind: "edge",
				name: mapping.name,
				mapping,
			}),
		);
	return [...types, ...edges];
}

function pick({
	key,
	default: fallback,
}: {
	readonly key: string;
	readonly default: JsonValue;
}) {
	return { key, default: fallback };
}

/** Hive style, so that readers leave out what they need not open. */
export function publicPrefix(
	{ kind, name }: Pick<PublicTable, "kind" | "name">,
	{ number }: Pick<Database, "number">,
): string {
	return `${kind}=${name}/shard=${String(number).padStart(5, "0")}`;
}

/** The table of storage that has its rows. */
export function tableOf(
	{ tables }: Database,
	table: PublicTable,
): Table | undefined {
	const name = table.kind === "type" ? table.type.table : table.mapping.table;
	return tables.find((each) => each.name === name);
}

export function publicLines(
	table: PublicTable,
	database: Database,
	objects: PublicObjects,
	rows: AsyncIterable<readonly StoredRow[]>,
): LineBatches {
	return table.kind === "type"
		? objectLines(table, database, objects, rows)
		: edgeLines(table.mapping, objects, rows);
}

async function* objectLines(
	{ type, fields }: Extract<PublicTable, { kind: "type" }>,
	{ number: shard }: Database,
	objects: PublicObjects,
	rows: AsyncIterable<readonly StoredRow[]>,
): LineBatches {
	for await (const some of rows) {
		const contents = new Map(
			some.map(([local, data]) => [
				packId({ shard, type: type.number, local: Number(local) }),
				parseJsonObject(data ?? ""),
			]),
		);
		const isPublic = await objects.filter([...contents.keys()], contents);
		yield [...contents].flatMap(([id, data]) =>
			data !== null && isPublic.has(id)
				? [JSON.stringify(shown(id, data, fields))]
				: [],
		);
	}
}

function shown(
	id: Id,
	data: JsonObject,
	fields: readonly PublicField[],
): JsonObject {
	return Object.fromEntries(
		fields.map(({ name, key, default: fallback }) => [
			name,
			key === null ? id : (data[key] ?? fallback),
		]),
	);
}

async function* edgeLines(
	mapping: Mapping,
	objects: PublicObjects,
	rows: AsyncIterable<readonly StoredRow[]>,
): LineBatches {
	const byTime = isByTime(mapping);
	for await (const some of rows) {
		const present = some.filter(([, , , state]) => Number(state) === PRESENT);
		const ends = present.flatMap(([from, to]) => [from as Id, to as Id]);
		const isPublic = await objects.filter([...new Set(ends)]);
		yield present.flatMap(([from, to, sequence]) =>
			isPublic.has(from as Id) && isPublic.has(to as Id)
				? [
						JSON.stringify({
							from,
							to,
							...(byTime ? { at: timeOf(sequence) } : { position: sequence }),
						}),
					]
				: [],
		);
	}
}

/** Sequences of lists by time are microseconds since 1970. */
function timeOf(sequence: string | null = null): string | null {
	const ms = Number(sequence) / 1_000;
	return ms >= 0 && ms <= 8.64e15 ? new Date(ms).toISOString() : null;
}
