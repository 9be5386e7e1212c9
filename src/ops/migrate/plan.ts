import { hash as digest } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import type { Domain } from "../../graph/domain.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import type { JsonValue } from "../../util/json.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import type { RawLine, UnreadLine } from "../import/readBatches.ts";
import { DELETED } from "../import/revision.ts";
import { edgeKey } from "./keys.ts";
import {
	type Conversion,
	columnsOf,
	type EdgeMapping,
	keyOf,
	keysOf,
	type Migration,
	type Row,
	type TypeMapping,
	type Value,
} from "./mapping.ts";
import { MappingError } from "./mappingError.ts";
import { mappingProblems } from "./mappingProblems.ts";
import type { Source, SourceTable } from "./sources/source.ts";
import { readValue } from "./values.ts";

/** A table that is migrated, and how its rows become lines of an import. */
export interface TablePlan extends SourceTable {
	/** The type, or the edge. */
	readonly name: string;
	readonly kind: "object" | "edge";
	/** The mapping of edges; null for objects. */
	readonly mapping: Mapping | null;
	/** The columns of edges that name where they begin. */
	readonly fromColumns: readonly string[];
	readonly toColumns: readonly string[];
	readonly changed: string | null;
	/** The tables whose log names its rows. */
	readonly logs: readonly LogOfPlan[];
	/** References of its fields that are null if their object has no row. */
	readonly optional: readonly Conversion[];
	/** Null for a row that is not meant: `only` says so, or an end of an edge is null. */
	lineOf(row: Row): RowLine | null;
	/** The line that deletes what a row made, of which only the key or the ends are asked; null if they are not there. */
	goneLine(row: Row): RowLine | null;
}

export interface LogOfPlan {
	readonly table: string;
	/** The column of another table that holds the same, by column of the plan's table. */
	readonly columns: Readonly<Record<string, string>> | null;
}

export interface RowLine {
	/** `Photo:8123`, or the edge with both ends. */
	readonly key: string;
	readonly isDeleted: boolean;
	/** The line, or what is wrong with the row. */
	readonly line: LineContent | UnreadLine;
}

/** As an import reads it. */
export function rawLine({ key, isDeleted, line }: RowLine): RawLine {
	if ("problem" in line) return line as UnreadLine;
	if (!("type" in line)) return JSON.stringify(line);
	const rev = isDeleted ? DELETED : String(line.rev);
	return { key, rev, text: () => JSON.stringify(line) };
}

type LineContent = Readonly<Record<string, JsonValue>>;

interface PlanContext {
	readonly model: Model;
	readonly fields: FieldReaders;
}

/** The tables in the order in which they are migrated: types before those that refer to them, then edges. Throws BAD_CONFIG with all that is wrong with the mapping. */
export function planMigration(
	given: Migration,
	context: PlanContext,
	source: Pick<Source, "tables" | "shownUrl">,
	{ createdAtField }: Pick<Domain, "createdAtField">,
): readonly TablePlan[] {
	const problems = mappingProblems(given, context, source);
	if (problems.length > 0) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`The mapping is not right:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
		);
	}
	const { model, fields } = context;
	const types = namedIn(given.types, model.objects).map(([type, mapping]) =>
		typePlan(type, mapping, fields, createdAtField),
	);
	const edges = namedIn(given.edges, model.mappings).map(([edge, mapping]) =>
		edgePlan(edge, mapping),
	);
	return [...parentsFirst(types, model), ...edges];
}

/** What the mapping names, with what the model has of that name. */
function namedIn<Named, Of>(
	mappings: Readonly<Record<string, Of | undefined>> = {},
	known: ReadonlyMap<string, Named>,
): readonly (readonly [Named, Of])[] {
	return Object.entries(mappings).flatMap(([name, mapping]) => {
		const named = known.get(name);
		return mapping === undefined || named === undefined
			? []
			: [[named, mapping] as const];
	});
}

function typePlan(
	type: ObjectType,
	mapping: TypeMapping,
	readers: FieldReaders,
	createdAtField: string | null,
): TablePlan {
	const key = keysOf(mapping.key);
	const values = Object.entries(mapping.fields).map(
		([field, value]) =>
			[field, value as Value, readers.typeNameOf(type.name, field)] as const,
	);
	return {
		...tableOf(mapping, key, key),
		name: type.name,
		kind: "object",
		mapping: null,
		fromColumns: [],
		toColumns: [],
		optional: values.flatMap(([, value]) =>
			typeof value === "object" && value.isOptional ? [value] : [],
		),
		goneLine(row) {
			const own = keyOf(type.name, key, row);
			if (own === null) return null;
			const line = { type: type.name, key: own, deleted: true };
			return { key: own, isDeleted: true, line };
		},
		lineOf(row) {
			if (mapping.only?.(row) === false) return null;
			const own = keyOf(type.name, key, row);
			if (own === null) return null;
			if (isDeleted(mapping, row)) return this.goneLine(row);
			return {
				key: own,
				isDeleted: false,
				line: caught(() => {
					const fields: Record<string, JsonValue> = {};
					for (const [field, value, typeName] of values) {
						fields[field] = readValue(field, value, row, typeName);
					}
					const at =
						mapping.at === undefined
							? (fields[createdAtField ?? ""] ?? null)
							: readValue("at", mapping.at, row, "DateTime");
					const content = {
						fields,
						...(at !== null && { at: laterThan1970(at) }),
					};
					return { type: type.name, key: own, ...content, rev: hash(content) };
				}),
			};
		},
	};
}

function edgePlan(edge: Mapping, mapping: EdgeMapping): TablePlan {
	const ends = [...columnsOf(mapping.from), ...columnsOf(mapping.to)];
	const key = mapping.key === undefined ? ends : keysOf(mapping.key);
	return {
		...tableOf(mapping, key, ends),
		name: edge.name,
		kind: "edge",
		mapping: edge,
		fromColumns: columnsOf(mapping.from),
		toColumns: columnsOf(mapping.to),
		optional: [],
		goneLine(row) {
			const [from, to] = [mapping.from.read(row), mapping.to.read(row)];
			if (typeof from !== "string" || typeof to !== "string") return null;
			return goneEdge(edge.name, from, to);
		},
		lineOf(row) {
			if (mapping.only?.(row) === false) return null;
			const [from, to] = [mapping.from.read(row), mapping.to.read(row)];
			if (typeof from !== "string" || typeof to !== "string") return null;
			const ends = { edge: edge.name, from, to };
			const key = edgeKey(edge.name, from, to);
			if (isDeleted(mapping, row)) return this.goneLine(row);
			return {
				key,
				isDeleted: false,
				line: caught(() => {
					const at =
						mapping.at === undefined
							? null
							: readValue("at", mapping.at, row, "DateTime");
					return { ...ends, ...(at !== null && { at: laterThan1970(at) }) };
				}),
			};
		},
	};
}

/** The line that deletes an edge. */
export function goneEdge(name: string, from: string, to: string): RowLine {
	const line = { edge: name, from, to, deleted: true };
	return { key: edgeKey(name, from, to), isDeleted: true, line };
}

/** Lists know no times before 1970. */
function laterThan1970(at: JsonValue): JsonValue {
	return typeof at === "string" && at < "1970"
		? "1970-01-01T00:00:00.000Z"
		: at;
}

function tableOf(
	{ table, where, changed, log }: TypeMapping | EdgeMapping,
	key: readonly string[],
	/** The columns by which the log of other tables names a row. */
	named: readonly string[],
) {
	const others = Object.entries(log ?? {}).map(([other, given]) => {
		const columns = keysOf(given).map((column, at) => [named[at], column]);
		return { table: other, columns: Object.fromEntries(columns) };
	});
	return {
		table,
		key,
		changed: changed ?? null,
		logs: log === undefined ? [{ table, columns: null }] : others,
		...(where !== undefined && { where }),
	};
}

function isDeleted({ deleted }: TypeMapping | EdgeMapping, row: Row): boolean {
	if (deleted === undefined) return false;
	if (typeof deleted === "function") return deleted(row);
	const value = row[deleted] ?? null;
	return ![null, false, 0, "0", "", "f", "false"].includes(
		value as string | number | boolean | null,
	);
}

function caught(make: () => LineContent): LineContent | UnreadLine {
	try {
		return make();
	} catch (thrown) {
		const reason = reasonOf(thrown);
		return {
			problem:
				thrown instanceof MappingError
					? `${reason}.`
					: `The mapping threw: ${reason}`,
		};
	}
}

/** What the row says, in few characters: a counter that nobody maps does not change it. */
function hash(content: LineContent): string {
	return digest("sha1", JSON.stringify(content), "base64url").slice(0, 20);
}

function parentsFirst(
	plans: readonly TablePlan[],
	model: Model,
): readonly TablePlan[] {
	const sorted: TablePlan[] = [];
	const visit = (plan: TablePlan, path: readonly TablePlan[]) => {
		if (sorted.includes(plan) || path.includes(plan)) return;
		for (const { target } of model.objects.get(plan.name)?.references ?? []) {
			const parent = plans.find(({ name }) => name === target);
			if (parent !== undefined) visit(parent, [...path, plan]);
		}
		sorted.push(plan);
	};
	for (const plan of plans) visit(plan, []);
	return sorted;
}
