import {
	type GraphQLSchema,
	type GraphQLType,
	getNullableType,
	isEnumType,
	isInputObjectType,
	isListType,
	isNonNullType,
	isObjectType,
} from "graphql";
import { fullSchema } from "../publicSchema.ts";
import { keyFields, type Model, type ObjectType } from "../types.ts";

const HEAD = [
	"// Made by corkboard schema types from the SDL beside it. Do not edit.",
	`import type { Id } from ${JSON.stringify("corkboard")};`,
	"",
	"/** What the SDL declares: `forSchema<Schema>()` holds an app against it. */",
	"export interface Schema {",
	"",
].join("\n");

/** TypeScript's types of the objects and inputs of a schema, as the text of a \`.d.ts\`. */
export function printSchemaTypes({
	model,
	schema,
}: {
	readonly model: Model;
	readonly schema: GraphQLSchema;
}): string {
	const full = fullSchema(schema);
	const inputs = Object.values(full.getTypeMap()).filter(isInputObjectType);
	const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
	const resolved = [...model.sources].flatMap(([type, fields]) =>
		[...fields].flatMap(([field, { kind }]) =>
			kind === "resolver" ? [`${type}.${field}`] : [],
		),
	);
	const members = [
		section(
			"Types with rows: their stored fields, their references, and what is stored by its keys.",
			"objects",
			[...model.objects.values()].map((type) => objectOf(type, full)),
		),
		section(
			"Inputs of arguments.",
			"inputs",
			inputs.map((type) =>
				record(
					type.name,
					Object.values(type.getFields()).map(
						(field) =>
							`${field.name}${isNonNullType(field.type) ? "" : "?"}: ${typeOf(field.type, full)}${isNonNullType(field.type) ? "" : " | undefined"};`,
					),
				),
			),
		),
		section(
			"Mutations, and their inputs.",
			"mutations",
			mutations.map(
				({ name, args }) =>
					`${name}: ${quoted(args.find((one) => one.name === "input")?.type)};`,
			),
		),
		section(
			"Mappings: from which type, to which.",
			"mappings",
			[...model.mappings.values()].map(
				({ name, from, to }) =>
					`${keyOf(name)}: [from: ${from === null ? "null" : JSON.stringify(from)}, to: ${JSON.stringify(to)}];`,
			),
		),
		section(
			"Lookups: the type that each finds.",
			"lookups",
			[...model.lookups.values()].map(
				({ name, type }) => `${keyOf(name)}: ${JSON.stringify(type)};`,
			),
		),
		section(
			"Fields that a resolver answers.",
			"resolvers",
			resolved.toSorted().map((name) => `${JSON.stringify(name)}: true;`),
		),
	];
	return `${HEAD}${members.join("")}}\n`;
}

/** A property of the interface, with one line, or several, for each member. */
function section(
	says: string,
	name: string,
	members: readonly string[],
): string {
	const lines = members.flatMap((member) => member.split("\n"));
	const body = lines.map((line) => `\t\t${line}\n`).join("");
	return `\t/** ${says} */\n\t${name}: {\n${body}\t};\n`;
}

function record(name: string, members: readonly string[]): string {
	return `${name}: {\n${members.map((member) => `\t${member}\n`).join("")}};`;
}

function objectOf(object: ObjectType, full: GraphQLSchema): string {
	const { name, stored, references } = object;
	const type = full.getType(name);
	const declared = isObjectType(type) ? type.getFields() : {};
	const fields = [
		...stored.map(({ field, key, nullable }) => {
			const found = declared[field]?.type;
			const text = found
				? typeOf(getNullableType(found), full, "stored")
				: "unknown";
			return { field, key, text, nullable };
		}),
		// A natural key that not everybody may read is stored, and has a resolver.
		...keyFields(object)
			.filter(({ field }) => !stored.some((one) => one.field === field))
			.map(({ field, key }) => ({
				field,
				key,
				text: "string",
				nullable: true,
			})),
	];
	return record(name, [
		record(
			"fields",
			fields.map(
				({ field, text, nullable }) =>
					`${field}: ${text}${nullable ? " | null" : ""};`,
			),
		).replaceAll("\n", "\n\t"),
		record(
			"references",
			references.map(
				({ field, target }) => `${field}: ${JSON.stringify(target)};`,
			),
		).replaceAll("\n", "\n\t"),
		record("data", [
			...fields.map(({ key, text }) => `${keyOf(key)}?: ${text};`),
			...references.map(({ key }) => `${keyOf(key)}?: Id;`),
		]).replaceAll("\n", "\n\t"),
	]);
}

const SCALARS: Readonly<Record<string, string>> = {
	Int: "number",
	Float: "number",
	Boolean: "boolean",
	ID: "string",
};

/** A nullable one may be null, as clients and databases give it. */
function typeOf(
	type: GraphQLType,
	full: GraphQLSchema,
	use: "input" | "stored" = "input",
): string {
	const inner = getNullableType(type);
	const text = innerOf(inner, full, use);
	return isNonNullType(type) || use === "stored" ? text : `${text} | null`;
}

function innerOf(
	type: GraphQLType,
	full: GraphQLSchema,
	use: "input" | "stored",
): string {
	if (isListType(type)) return `readonly (${typeOf(type.ofType, full, use)})[]`;
	if (isEnumType(type)) {
		return type
			.getValues()
			.map(({ name }) => JSON.stringify(name))
			.join(" | ");
	}
	if (isInputObjectType(type)) return `Schema["inputs"]["${type.name}"]`;
	if (isObjectType(type)) {
		const members = Object.values(type.getFields()).map(
			(field) =>
				`${field.name}${isNonNullType(field.type) ? "" : "?"}: ${typeOf(getNullableType(field.type), full, use)}`,
		);
		return `{ ${members.join("; ")} }`;
	}
	return SCALARS[String(type)] ?? "string";
}

function quoted(type: GraphQLType | undefined): string {
	return type === undefined
		? "null"
		: JSON.stringify(String(getNullableType(type)));
}

function keyOf(name: string): string {
	return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
