import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { type GraphQLSchema, getNamedType } from "graphql";
import { CorkboardError } from "../errors.ts";
import { readTextFileSync, whyUnread } from "../util/textFile.ts";
import { checkNoTime, type PageTypes, readConnection } from "./connections.ts";
import {
	type DeclaredField,
	type DeclaredType,
	readDirectives,
} from "./directives.ts";
import type {
	DeclaredMutation,
	DescribeValues,
} from "./expand/expandMutations.ts";
import {
	type MappingDraft,
	readGroup,
	readInverse,
	readOrder,
} from "./inverses.ts";
import { Names } from "./names.ts";
import { readObject, storedKey } from "./objects.ts";
import { Problems } from "./problems.ts";
import { buildPublicSchema } from "./publicSchema.ts";
import { parseSdl, type SdlFile } from "./sdl.ts";
import type { FieldSource, Mapping, Model, ObjectType } from "./types.ts";
import {
	checkArguments,
	checkEdge,
	checkInputNames,
	checkNodes,
	checkNullable,
	checkPageUse,
	checkPlace,
	checkPrefixes,
	checkResolvers,
	checkSemanticNonNull,
	checkSource,
	readPrefixKeys,
} from "./validate.ts";

export interface ReadOptions {
	/** The fields, as `Type.field`, that have batch resolvers. */
	readonly resolverFields: ReadonlySet<string>;
	/** For the descriptions of inputs that are made. */
	readonly describe?: DescribeValues;
}

export interface ModelAndSchema {
	readonly model: Model;
	/** The schema that clients see. */
	readonly schema: GraphQLSchema;
	/** Those that `@mutations` declares. */
	readonly mutations: readonly DeclaredMutation[];
}

/** Fields of Query that the engine answers, for every app. */
const NODE_FIELDS = ["node", "nodes", "viewer"] as const;

/** What the directives mean is the engine's; a folder may have a copy, for an editor. */
const DIRECTIVES = "directives.graphql";

/** All `*.graphql` files of a folder. Throws BAD_MODEL if there are none. */
export function readSdlFiles(directory: string): readonly SdlFile[] {
	const names = filesOf(directory)
		.filter((name) => name.endsWith(".graphql"))
		.toSorted();
	if (names.length === 0) {
		throw new CorkboardError(
			"BAD_MODEL",
			`${directory} has no *.graphql files`,
		);
	}
	return names.map((name) => readSdl(join(directory, name)));
}

function filesOf(directory: string): readonly string[] {
	try {
		return readdirSync(directory);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_MODEL",
			`Cannot read the folder ${directory} of the SDL: ${whyUnread(cause)}.`,
			{ cause },
		);
	}
}

function readSdl(path: string): SdlFile {
	try {
		return { path, text: readTextFileSync(path) };
	} catch (cause) {
		throw new CorkboardError(
			"BAD_MODEL",
			`Cannot read ${path}: ${whyUnread(cause)}.`,
			{ cause },
		);
	}
}

/**
 * Reads the model and the public schema from SDL files. Throws one BAD_MODEL
 * with every problem, each as `file:line: message`.
 */
export function readModel(
	files: readonly SdlFile[],
	{ resolverFields, describe }: ReadOptions,
): ModelAndSchema {
	const problems = new Problems();
	const hasDirectives = files.some(({ path }) => basename(path) === DIRECTIVES);
	const sdl = parseSdl(
		hasDirectives
			? files
			: [readSdl(join(import.meta.dirname, DIRECTIVES)), ...files],
		problems,
		describe,
	);
	const types = sdl && readDirectives(sdl.schema, problems);
	if (sdl === null || types === null) throw problems.error();
	const resolved = new Set([
		...resolverFields,
		...NODE_FIELDS.filter((field) => types.get("Query")?.fields.has(field)).map(
			(field) => `Query.${field}`,
		),
		...sdl.mutations.map(({ name }) => `Mutation.${name}`),
	]);
	checkNodes(sdl.schema, types, sdl.unknown, problems);
	checkResolvers(types, resolved, problems);
	checkInputNames(
		sdl.schema,
		[...types.values()].flatMap(({ fields }) => [...fields.values()]),
		problems,
	);
	const model = buildModel({
		types,
		resolved,
		unknown: sdl.unknown,
		pageTypes: new Map(),
		names: new Names(problems),
		problems,
	});
	if (!problems.isEmpty) throw problems.error();
	return {
		model: deepFreeze(model),
		schema: buildPublicSchema(sdl.document, model),
		mutations: sdl.mutations,
	};
}

interface Reading {
	readonly types: ReadonlyMap<string, DeclaredType>;
	readonly resolved: ReadonlySet<string>;
	readonly unknown: ReadonlySet<string>;
	readonly pageTypes: PageTypes;
	readonly names: Names;
	readonly problems: Problems;
}

/** Builds as much of the model as can be read: all of it if there are no problems. */
function buildModel(reading: Reading): Model {
	const { types, resolved, pageTypes, problems } = reading;
	const fields = [...types.values()].flatMap((type) => [
		...type.fields.values(),
	]);
	const drafts = fields.flatMap((field) => {
		const draft = readMapping(field, reading);
		return draft === null ? [] : [draft];
	});
	const mappings = drafts.map((draft): Mapping => {
		const inverse = readInverse(draft, drafts, types, problems);
		const groupedBy = readGroup(draft, inverse, types, problems);
		const orderedBy = readOrder(draft, inverse, types, problems);
		if (orderedBy !== null) checkNoTime(draft.declared, pageTypes, problems);
		return {
			...draft.mapping,
			inverse,
			...(groupedBy !== null && { groupedBy }),
			...(orderedBy !== null && { orderedBy }),
		};
	});
	for (const field of fields) {
		const role = types.get(field.owner)?.role ?? "plain";
		checkSource(field, role, resolved, problems);
		checkArguments(field, role, resolved, problems);
		checkPageUse(field, pageTypes, problems);
		checkEdge(field, types, mappings, problems);
		checkPrefixes(field, role, problems);
		checkSemanticNonNull(field, types, problems);
		if (!pageTypes.has(field.owner)) checkNullable(field, types, problems);
	}
	const objects: ObjectType[] = [];
	for (const declared of types.values()) {
		if (declared.role !== "object") continue;
		const object = readObject(declared, reading);
		objects.push({
			...object,
			mappings: mappings.filter(({ from }) => from === declared.name),
			derivedMappings: mappings.filter(
				({ to, inverse }) =>
					to === declared.name && inverse?.kind === "reference",
			),
			globalMappings: mappings.filter(
				({ from, to, prefixKeys }) =>
					from === null && prefixKeys === null && to === declared.name,
			),
			prefixMappings: mappings.filter(
				({ to, prefixKeys }) => prefixKeys !== null && to === declared.name,
			),
		});
	}
	return {
		objects: new Map(objects.map((object) => [object.name, object])),
		objectsByNumber: new Map(objects.map((object) => [object.number, object])),
		mappings: new Map(mappings.map((mapping) => [mapping.name, mapping])),
		lookups: new Map(
			objects
				.flatMap(({ lookups }) => lookups)
				.map((lookup) => [lookup.name, lookup]),
		),
		sources: new Map(
			[...types.values()].map((type) => [
				type.name,
				pageTypes.get(type.name) ?? readSources(type),
			]),
		),
	};
}

function readMapping(
	field: DeclaredField,
	{ types, unknown, pageTypes, names, problems }: Reading,
): MappingDraft | null {
	const { mapping } = field;
	if (mapping === null) return null;
	if (mapping.values !== null) {
		names.mapping(mapping.values.name, field.path, mapping.node);
		names.table(mapping.values.table, field.path, mapping.node);
	}
	if (unknown.has(getNamedType(field.field.type).name)) return null;
	const to = readConnection(field, types, pageTypes, problems);
	const role = types.get(field.owner)?.role;
	if (to === null || mapping.values === null) return null;
	if (role !== "object" && role !== "query") return null;
	const { name, table, inverse, order, groupBy, orderBy, place } =
		mapping.values;
	const from = role === "query" ? null : field.owner;
	const prefixKeys = readPrefixKeys(field, to, types, problems);
	checkPlace(field, problems);
	return {
		declared: field,
		mapping: {
			name,
			table,
			from,
			prefixKeys,
			to,
			field: field.name,
			order,
			...(place === "FEEDS" && { place }),
		},
		inverse: inverse ?? null,
		groupBy: groupBy ?? null,
		orderBy: orderBy ?? null,
	};
}

function readSources({
	role,
	fields,
}: DeclaredType): ReadonlyMap<string, FieldSource> {
	return new Map(
		[...fields.values()].map((field) => [field.name, sourceOf(field, role)]),
	);
}

function sourceOf(
	field: DeclaredField,
	role: DeclaredType["role"],
): FieldSource {
	const key = storedKey(field) ?? field.name;
	if (field.edge?.values) return { kind: "payloadEdge", ...field.edge.values };
	if (role === "plain") return { kind: "property" };
	if (role === "object" && field.name === "id") return { kind: "id" };
	if (field.stored) {
		const fallback = field.stored.values?.default ?? null;
		return { kind: "stored", key, default: fallback };
	}
	if (field.reference) {
		return { kind: "reference", key, target: String(field.field.type) };
	}
	if (field.mapping) {
		return { kind: "mapping", mapping: field.mapping.values?.name ?? "" };
	}
	return { kind: "resolver" };
}

/** Freezes everything reachable, maps included: a write throws. */
function deepFreeze<T>(value: T): T {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) {
		return value;
	}
	if (value instanceof Map) {
		for (const [key, item] of value) {
			deepFreeze(key);
			deepFreeze(item);
		}
		// Object.freeze does not stop a map from changing its entries.
		const refuse = { value: refuseChange };
		Object.defineProperties(value, {
			set: refuse,
			delete: refuse,
			clear: refuse,
		});
	}
	Object.freeze(value);
	for (const item of Object.values(value)) deepFreeze(item);
	return value;
}

function refuseChange(): never {
	throw new TypeError("The model is frozen and cannot be changed.");
}
