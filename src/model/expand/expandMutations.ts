import {
	type ConstDirectiveNode,
	type DefinitionNode,
	type DocumentNode,
	type FieldDefinitionNode,
	type InputObjectTypeDefinitionNode,
	Kind,
	type Location,
	type ObjectTypeDefinitionNode,
	print,
	type TypeNode,
} from "graphql";
import {
	argument,
	article,
	complete,
	type MadeField,
	nameOf,
	object,
	text,
	textArgument,
	words,
} from "./expandPages.ts";

/** A mutation that the SDL declares with `@mutations`. */
export type DeclaredMutation = { readonly name: string } & (
	| {
			readonly kind: "create";
			readonly type: string;
			/** The reference to the viewer who creates it. */
			readonly owner: string;
			/** The reference to what it is created in. */
			readonly in: string | null;
			/** The type of that. */
			readonly inType: string | null;
			/** The stored fields of its input. */
			readonly fields: readonly string[];
	  }
	| {
			readonly kind: "update";
			readonly type: string;
			readonly owner: string;
			readonly fields: readonly string[];
	  }
	| { readonly kind: "delete"; readonly type: string; readonly owner: string }
	| {
			readonly kind: "add" | "remove";
			readonly mapping: string;
			readonly to: string;
	  }
);

export interface WithMutations {
	readonly document: DocumentNode;
	readonly mutations: readonly DeclaredMutation[];
}

/**
 * Makes, of SDL whose pages are complete, the mutations that `@mutations` declares: their fields, inputs and payloads.
 * If a type or field is written by hand, only what it lacks is made.
 */
export function expandMutations(document: DocumentNode): WithMutations {
	const sdl = new Sdl(document);
	const made = document.definitions.flatMap((definition) =>
		isObject(definition) ? madeOf(definition, sdl) : [],
	);
	if (made.length === 0) return { document, mutations: [] };
	const whole = new Map<string, Made>();
	for (const { input, payload } of made) {
		whole.set(input.name.value, input);
		whole.set(payload.name.value, payload);
	}
	const fields = made.map(({ field }) => field);
	const known = new Set(sdl.fieldsOf("Mutation").map(({ name }) => name.value));
	const lacking = fields.filter(({ name }) => !known.has(name.value));
	const completed = document.definitions.map((definition): DefinitionNode => {
		if (
			definition.kind !== Kind.OBJECT_TYPE_DEFINITION &&
			definition.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION
		) {
			return definition;
		}
		const { value } = definition.name;
		if (value === "Mutation") {
			const { fields = [] } = definition as ObjectTypeDefinitionNode;
			return {
				...definition,
				fields: [...fields, ...lacking],
			} as DefinitionNode;
		}
		const own = whole.get(value);
		if (own === undefined || own.kind !== definition.kind) return definition;
		whole.delete(value);
		return complete(definition as Made, own as Made);
	});
	const hasRoot = completed.some(
		(one) =>
			one.kind === Kind.OBJECT_TYPE_DEFINITION && one.name.value === "Mutation",
	);
	const root = {
		...object("Mutation", "What changes something.", undefined, []),
		fields: lacking,
	};
	return {
		document: {
			...document,
			definitions: [
				...completed,
				...(hasRoot ? [] : [root]),
				...whole.values(),
			],
		},
		mutations: made.map(({ mutation }) => mutation),
	};
}

type Made = ObjectTypeDefinitionNode | InputObjectTypeDefinitionNode;
type Fields = ObjectTypeDefinitionNode;

interface MadeMutation {
	readonly mutation: DeclaredMutation;
	readonly field: FieldDefinitionNode;
	readonly input: InputObjectTypeDefinitionNode;
	readonly payload: ObjectTypeDefinitionNode;
}

function isObject(definition: DefinitionNode): definition is Fields {
	return (
		definition.kind === Kind.OBJECT_TYPE_DEFINITION ||
		definition.kind === Kind.OBJECT_TYPE_EXTENSION
	);
}

/** The types of the SDL with what extends them. */
class Sdl {
	readonly #fields = new Map<string, FieldDefinitionNode[]>();

	constructor({ definitions }: DocumentNode) {
		for (const definition of definitions) {
			if (!isObject(definition)) continue;
			const { value } = definition.name;
			const fields = this.#fields.get(value) ?? [];
			this.#fields.set(value, [...fields, ...(definition.fields ?? [])]);
		}
	}

	fieldsOf(type: string): readonly FieldDefinitionNode[] {
		return this.#fields.get(type) ?? [];
	}

	/** The type that a field leads to. */
	typeOf(type: string, field: string): string | null {
		const found = this.fieldsOf(type).find(({ name }) => name.value === field);
		return found === undefined ? null : nameIn(found.type);
	}

	/** The type that the pages of a list are of. */
	listed(type: TypeNode): string {
		const name = nameIn(type);
		return this.typeOf(name, "nodes") ?? name;
	}

	/** What viewers are. */
	get viewer(): string {
		return this.typeOf("Query", "viewer") ?? "Node";
	}

	/** The list that a reference of a type is the inverse of. */
	listOf(type: string, reference: string) {
		const from = this.typeOf(type, reference) ?? "";
		for (const field of this.fieldsOf(from)) {
			const mapping = directiveOf(field, "mapping");
			if (mapping === undefined || this.listed(field.type) !== type) continue;
			if (textArgument(mapping, "inverse") !== reference) continue;
			const name = textArgument(mapping, "name");
			if (name !== null) {
				const edge = this.typeOf(nameIn(field.type), "edges") ?? `${type}Edge`;
				return { name, edge };
			}
		}
		return null;
	}
}

function madeOf(definition: Fields, sdl: Sdl): readonly MadeMutation[] {
	const type = definition.name.value;
	const declared = directiveOf(definition, "mutations");
	const own = declared === undefined ? [] : ofObject(type, declared, sdl);
	const edges = (definition.fields ?? []).flatMap((field) => {
		const mutations = directiveOf(field, "mutations");
		const mapping = directiveOf(field, "mapping");
		const name = mapping && textArgument(mapping, "name");
		return mutations && name ? ofMapping(field, mutations, name, sdl) : [];
	});
	return [...own, ...edges];
}

/** Create, update and delete. */
function ofObject(
	type: string,
	declared: ConstDirectiveNode,
	sdl: Sdl,
): readonly MadeMutation[] {
	const { loc } = declared;
	const owner = textArgument(declared, "owner") ?? "owner";
	const inside = textArgument(declared, "in");
	const inType = inside === null ? null : sdl.typeOf(type, inside);
	const one = words(type);
	const field = lowerFirst(type);
	const stored = sdl.fieldsOf(type).filter(isWritten);
	const names = stored.map(({ name }) => name.value);
	const viewer: MadeField = ["viewer", sdl.viewer, "The viewer."];
	const id: MadeField = [`${field}Id`, "ID!", `The ${one}'s id.`];
	const list = sdl.listOf(type, inside ?? owner);
	const edge = edgeField(
		field,
		`The edge to the new ${one} in the list that it is on.`,
		list,
		inside ?? "viewer",
		loc,
	);
	const created = mutationOf(`create${type}`, loc, {
		description: `Create ${article(one)}.`,
		mutation: {
			name: `create${type}`,
			kind: "create",
			type,
			owner,
			in: inside,
			inType,
			fields: names,
		},
		input: [
			...(inside === null
				? []
				: [
						[
							`${inside}Id`,
							"ID!",
							`The ${words(inside)} to create it in.`,
						] as const,
					]),
			...stored.map((each) => inputOf(each, true)),
		],
		payload: [
			[field, type, `The new ${one}.`],
			...(inside === null || inType === null
				? []
				: [[inside, inType, `The ${words(inside)} that it is in.`] as const]),
			viewer,
		],
	});
	return [
		{
			...created,
			payload: {
				...created.payload,
				fields: [...(created.payload.fields ?? []), ...edge],
			},
		},
		mutationOf(`update${type}`, loc, {
			description: `Update ${article(one)} of the viewer.`,
			mutation: {
				name: `update${type}`,
				kind: "update",
				type,
				owner,
				fields: names,
			},
			input: [id, ...stored.map((each) => inputOf(each, false))],
			payload: [[field, type, `The ${one} after the change.`], viewer],
		}),
		mutationOf(`delete${type}`, loc, {
			description: `Delete ${article(one)} of the viewer.`,
			mutation: { name: `delete${type}`, kind: "delete", type, owner },
			input: [id],
			payload: [
				[`deleted${type}Id`, "ID", `The id of the deleted ${one}.`],
				viewer,
			],
		}),
	];
}

/** Add and remove. */
function ofMapping(
	{ type }: FieldDefinitionNode,
	declared: ConstDirectiveNode,
	mapping: string,
	sdl: Sdl,
): readonly MadeMutation[] {
	const to = sdl.listed(type);
	const one = words(to);
	const { loc } = declared;
	const field = lowerFirst(to);
	return (["add", "remove"] as const).flatMap((kind) => {
		const name = textArgument(declared, kind);
		if (name === null) return [];
		return [
			mutationOf(name, loc, {
				description:
					kind === "add"
						? `Add ${article(one)} to this list of the viewer's.`
						: `Take ${article(one)} from this list of the viewer's.`,
				mutation: { name, kind, mapping, to },
				input: [[`${field}Id`, "ID!", `The ${one}'s id.`]],
				payload: [
					[field, to, `The ${one} after the change.`],
					...(kind === "add"
						? []
						: [[`removed${to}Id`, "ID", `The ${one}'s id.`] as const]),
					["viewer", sdl.viewer, "The viewer after the change."],
				],
			}),
		];
	});
}

function mutationOf(
	name: string,
	loc: Location | undefined,
	made: {
		readonly description: string;
		readonly mutation: DeclaredMutation;
		readonly input: readonly MadeField[];
		readonly payload: readonly MadeField[];
	},
): MadeMutation {
	const upper = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
	const [field] =
		object("Mutation", "", loc, [[name, `${upper}Payload`, made.description]])
			.fields ?? [];
	if (field === undefined) throw new TypeError("expected the field just made");
	const input = `${upper}Input`;
	return {
		mutation: made.mutation,
		field: {
			...field,
			arguments: [argument("input", `${input}!`, `The input of ${name}.`, loc)],
		},
		input: {
			kind: Kind.INPUT_OBJECT_TYPE_DEFINITION,
			name: nameOf(input, loc),
			description: text(`The input of ${name}.`),
			fields: made.input.map(([each, type, of]) =>
				argument(each, type, of, loc),
			),
			...(loc && { loc }),
		},
		payload: object(
			`${upper}Payload`,
			`The result of ${name}.`,
			loc,
			made.payload,
		),
	};
}

function edgeField(
	to: string,
	description: string,
	list: { readonly name: string; readonly edge: string } | null,
	from: string,
	loc: Location | undefined,
): readonly FieldDefinitionNode[] {
	if (list === null) return [];
	const [field] =
		object("", "", loc, [[`${to}Edge`, list.edge, description]]).fields ?? [];
	if (field === undefined) return [];
	const given = { mapping: list.name, from, to };
	return [
		{
			...field,
			directives: [
				{
					kind: Kind.DIRECTIVE,
					name: nameOf("edge", loc),
					arguments: Object.entries(given).map(([name, value]) => ({
						kind: Kind.ARGUMENT,
						name: nameOf(name, loc),
						value: text(value),
					})),
					...(loc && { loc }),
				},
			],
		},
	];
}

/** Whether clients give it: a stored value that is no time. */
function isWritten(field: FieldDefinitionNode): boolean {
	return (
		directiveOf(field, "stored") !== undefined &&
		nameIn(field.type) !== "DateTime"
	);
}

/** The field of an input, as `fieldsToCreate` and `fieldsToUpdate` read it. */
function inputOf(field: FieldDefinitionNode, isNew: boolean): MadeField {
	const fallback = directiveOf(field, "stored")?.arguments?.find(
		({ name }) => name.value === "default",
	)?.value;
	const isRequired =
		isNew && fallback?.kind === Kind.STRING && fallback.value === "";
	const type =
		field.type.kind === Kind.NON_NULL_TYPE ? field.type.type : field.type;
	const name = field.name.value;
	return [
		name,
		`${print(type)}${isRequired ? "!" : ""}`,
		field.description?.value ?? `The ${words(name)}.`,
	];
}

function directiveOf(
	{
		directives,
	}: { readonly directives?: readonly ConstDirectiveNode[] | undefined },
	name: string,
): ConstDirectiveNode | undefined {
	return directives?.find((each) => each.name.value === name);
}

function nameIn(type: TypeNode): string {
	return type.kind === Kind.NAMED_TYPE ? type.name.value : nameIn(type.type);
}

function lowerFirst(name: string): string {
	return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}
