import {
	type ConstDirectiveNode,
	type DefinitionNode,
	type DocumentNode,
	type FieldDefinitionNode,
	type InputObjectTypeDefinitionNode,
	Kind,
	type Location,
	type ObjectTypeDefinitionNode,
	type ObjectTypeExtensionNode,
	print,
	type TypeNode,
} from "graphql";
import {
	argument,
	article,
	complete,
	isInternal,
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
			/** The reference to the viewer who creates it; null if the type has none. */
			readonly owner: string | null;
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
			readonly owner: string | null;
			readonly fields: readonly string[];
	  }
	| {
			readonly kind: "delete";
			readonly type: string;
			readonly owner: string | null;
			/** The reference to what it was created in. */
			readonly in: string | null;
	  }
	| {
			readonly kind: "add" | "remove";
			readonly mapping: string;
			readonly to: string;
	  }
);

/** What to say of the values that a stored field of a type may have: `At most 100 characters`. */
export type DescribeValues = (type: string, field: string) => string | null;

export interface WithMutations {
	readonly document: DocumentNode;
	readonly mutations: readonly DeclaredMutation[];
}

/**
 * Makes, of SDL whose pages are complete, the mutations that `@mutations` declares: their fields, inputs and payloads.
 * If a type or field is written by hand, only what it lacks is made.
 */
export function expandMutations(
	document: DocumentNode,
	describe: DescribeValues,
): WithMutations {
	const sdl = new Sdl(document, describe);
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
	const byName = new Map(fields.map((field) => [field.name.value, field]));
	const completed = document.definitions.map((definition): DefinitionNode => {
		if (isObject(definition) && definition.name.value === "Mutation") {
			const isRoot = definition.kind === Kind.OBJECT_TYPE_DEFINITION;
			const written = (definition.fields ?? []).map((field) =>
				completeField(field, byName.get(field.name.value)),
			);
			return {
				...definition,
				fields: [...written, ...(isRoot ? lacking : [])],
			};
		}
		if (
			definition.kind !== Kind.OBJECT_TYPE_DEFINITION &&
			definition.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION
		) {
			return definition;
		}
		const { value } = definition.name;
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
type Fields = ObjectTypeDefinitionNode | ObjectTypeExtensionNode;

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

/** A mutation as it is written, with the description and the argument that it lacks. */
function completeField(
	written: FieldDefinitionNode,
	whole: FieldDefinitionNode | undefined,
): FieldDefinitionNode {
	if (whole === undefined) return written;
	const description = written.description ?? whole.description;
	const has = (written.arguments ?? []).length > 0;
	return {
		...written,
		...(description && { description }),
		arguments: (has ? written.arguments : whole.arguments) ?? [],
	};
}

/** The types of the SDL with what extends them. */
class Sdl {
	readonly #fields = new Map<string, FieldDefinitionNode[]>();
	readonly #inputs = new Set<string>();
	readonly describe: DescribeValues;

	constructor({ definitions }: DocumentNode, describe: DescribeValues) {
		this.describe = describe;
		for (const definition of definitions) {
			if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) {
				this.#inputs.add(definition.name.value);
			}
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

	/** The type that an input has for a value of that type: `ImageInput` for `Image`, if there is one. */
	inputType(type: TypeNode): string {
		const whole = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
		const name = nameIn(whole);
		return this.#inputs.has(`${name}Input`)
			? print(whole).replace(name, `${name}Input`)
			: print(whole);
	}

	/** The public list whose `inverse` is that field of the listed type. */
	listOf(type: string, inverse: string): List | null {
		const from = this.typeOf(type, inverse);
		return from === null ? null : this.#listIn(from, type, inverse);
	}

	/** The public list that holds the same edges as one from `from` to `to`, whose field names it as its `inverse`. */
	inverseOf(from: string, to: string, inverse: string): List | null {
		const field = this.fieldsOf(to).find(({ name }) => name.value === inverse);
		return field === undefined || this.listed(field.type) !== from
			? null
			: this.list(field);
	}

	#listIn(from: string, type: string, inverse: string): List | null {
		for (const field of this.fieldsOf(from)) {
			const mapping = directiveOf(field, "mapping");
			if (mapping === undefined || this.listed(field.type) !== type) continue;
			if (textArgument(mapping, "inverse") !== inverse) continue;
			const list = this.list(field);
			if (list !== null) return list;
		}
		return null;
	}

	/** What clients see of a field with `@mapping`; null for an internal one. */
	list(field: FieldDefinitionNode): List | null {
		const mapping = directiveOf(field, "mapping");
		const name = mapping && textArgument(mapping, "name");
		const edge = this.typeOf(nameIn(field.type), "edges");
		return !name || edge === null || isInternal(field.loc)
			? null
			: { name, edge, field: field.name.value };
	}
}

/** The name of a mapping, the type of its edges, and its field. */
interface List {
	readonly name: string;
	readonly edge: string;
	readonly field: string;
}

function madeOf(definition: Fields, sdl: Sdl): readonly MadeMutation[] {
	const type = definition.name.value;
	const declared = directiveOf(definition, "mutations");
	const own = declared === undefined ? [] : ofObject(type, declared, sdl);
	const edges = (definition.fields ?? []).flatMap((field) => {
		const mutations = directiveOf(field, "mutations");
		const mapping = directiveOf(field, "mapping");
		const name = mapping && textArgument(mapping, "name");
		if (!mutations || !name) return [];
		const inverse = textArgument(mapping, "inverse");
		return ofMapping(type, field, mutations, { name, inverse }, sdl);
	});
	return [...own, ...edges];
}

const IDEMPOTENCY_KEY: MadeField = [
	"idempotencyKey",
	"String",
	"1 to 100 characters of printable ASCII. A repeated request with the same key takes effect once.",
];

/** Create, update and delete. */
function ofObject(
	type: string,
	declared: ConstDirectiveNode,
	sdl: Sdl,
): readonly MadeMutation[] {
	const { loc } = declared;
	const named = textArgument(declared, "owner");
	const owner = named ?? (sdl.typeOf(type, "owner") === null ? null : "owner");
	const inside = textArgument(declared, "in");
	const inType = inside === null ? null : sdl.typeOf(type, inside);
	const create = textArgument(declared, "create") ?? `create${type}`;
	const one = words(type);
	const field = lowerFirst(type);
	const stored = sdl.fieldsOf(type).filter(isWritten);
	const names = stored.map(({ name }) => name.value);
	const clears = stored.some(({ type }) => type.kind !== Kind.NON_NULL_TYPE);
	const owned =
		owner === null
			? ""
			: owner === "owner"
				? " that the viewer owns"
				: ` whose ${words(owner)} is the viewer`;
	const viewer: MadeField = [
		"viewer",
		sdl.viewer,
		"The viewer after the change.",
	];
	const id: MadeField = [`${field}Id`, "ID!", `The ${one}'s id.`];
	const place = (text: string): readonly MadeField[] =>
		inside === null || inType === null ? [] : [[inside, inType, text]];
	const inList = inside === null ? null : sdl.listOf(type, inside);
	const ownList = owner === null ? null : sdl.listOf(type, owner);
	const created = mutationOf(create, loc, {
		description: `Create ${article(one)}${owned}.`,
		input: `Fields of a new ${one}.`,
		mutation: {
			name: create,
			kind: "create",
			type,
			owner,
			in: inside,
			inType,
			fields: names,
		},
		inputFields: [
			...(inside === null
				? []
				: [
						[
							`${inside}Id`,
							"ID!",
							`The ${words(inside)} of the new ${one}.`,
						] as const,
					]),
			...stored.map((each) => inputOf(type, each, true, sdl)),
			IDEMPOTENCY_KEY,
		],
		payload: [
			[field, type, `The new ${one}.`],
			...place(`The ${one}'s ${words(inside ?? "")}.`),
			viewer,
		],
	});
	const to = { field, one: `new ${one}` };
	const edges = [
		...(inside === null || inList === null
			? []
			: [edgeField(inList, { field: inside, one: words(inside) }, to, loc)]),
		...(ownList === null
			? []
			: [
					edgeField(ownList, VIEWER, to, loc, {
						prefix: inList === null ? "" : "viewer",
					}),
				]),
	];
	return [
		withEdges(created, edges),
		mutationOf(`update${type}`, loc, {
			description: `Update ${article(one)}${owned}.`,
			input: `Changes to ${article(one)}. An absent field keeps its value${clears ? "; null clears it" : ""}.`,
			mutation: {
				name: `update${type}`,
				kind: "update",
				type,
				owner,
				fields: names,
			},
			inputFields: [
				id,
				...stored.map((each) => inputOf(type, each, false, sdl)),
			],
			payload: [[field, type, `The ${one} after the change.`], viewer],
		}),
		mutationOf(`delete${type}`, loc, {
			description: `Delete ${article(one)}${owned}.`,
			input: `The ${one} to delete.`,
			mutation: {
				name: `delete${type}`,
				kind: "delete",
				type,
				owner,
				in: inside,
			},
			inputFields: [id],
			payload: [
				[`deleted${type}Id`, "ID", `The id of the deleted ${one}.`],
				...place(
					`The ${words(inside ?? "")} of the deleted ${one}; null if the viewer does not see it.`,
				),
				viewer,
			],
		}),
	];
}

/** Add and remove. */
function ofMapping(
	from: string,
	list: FieldDefinitionNode,
	declared: ConstDirectiveNode,
	mapping: { readonly name: string; readonly inverse: string | null },
	sdl: Sdl,
): readonly MadeMutation[] {
	const to = sdl.listed(list.type);
	const { loc } = declared;
	const field = lowerFirst(to);
	// One of the two users is the viewer.
	const one = words(to);
	const where = `the viewer's \`${list.name.value}\``;
	const viewer: MadeField = [
		"viewer",
		sdl.viewer,
		"The viewer after the change.",
	];
	const own = sdl.list(list);
	const other =
		mapping.inverse === null ? null : sdl.inverseOf(from, to, mapping.inverse);
	return (["add", "remove"] as const).flatMap((kind) => {
		const name = textArgument(declared, kind);
		if (name === null) return [];
		const isAdd = kind === "add";
		const verb = name.endsWith(to) ? words(name.slice(0, -to.length)) : "";
		const made = mutationOf(name, loc, {
			description:
				verb === ""
					? `${isAdd ? `Add ${article(one)} to` : `Remove ${article(one)} from`} ${where}.`
					: `${upperFirst(verb)} ${article(one)}.`,
			input: `The ${one} to ${verb === "" ? kind : verb}.`,
			mutation: { name, kind, mapping: mapping.name, to },
			inputFields: [[`${field}Id`, "ID!", `The ${one}'s id.`]],
			payload: isAdd
				? [[field, to, `The ${one} after the change.`], viewer]
				: [
						[
							field,
							to,
							`The ${one} after the change; null if the viewer no longer sees it.`,
						],
						[
							`removed${to}Id`,
							"ID",
							`The id of the ${one} that was removed from ${where}.`,
						],
						viewer,
					],
		});
		if (!isAdd) return [made];
		const end = { field, one };
		return [
			withEdges(made, [
				...(own === null ? [] : [edgeField(own, VIEWER, end, loc)]),
				...(other === null
					? []
					: [
							edgeField(other, end, VIEWER, loc, {
								isLater: true,
								prefix: other.edge === own?.edge ? "viewer" : "",
							}),
						]),
			]),
		];
	});
}

function mutationOf(
	name: string,
	loc: Location | undefined,
	made: {
		readonly description: string;
		/** What the input is. */
		readonly input: string;
		readonly mutation: DeclaredMutation;
		readonly inputFields: readonly MadeField[];
		readonly payload: readonly MadeField[];
	},
): MadeMutation {
	const upper = upperFirst(name);
	const [field] =
		object("Mutation", "", loc, [[name, `${upper}Payload`, made.description]])
			.fields ?? [];
	if (field === undefined) throw new TypeError("expected the field just made");
	const input = `${upper}Input`;
	return {
		mutation: made.mutation,
		field: {
			...field,
			arguments: [argument("input", `${input}!`, made.input, loc)],
		},
		input: {
			kind: Kind.INPUT_OBJECT_TYPE_DEFINITION,
			name: nameOf(input, loc),
			description: text(made.input),
			fields: made.inputFields.map(([each, type, of]) =>
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

/** A field of a payload, and what to call the object that it names. */
interface End {
	readonly field: string;
	readonly one: string;
}

const VIEWER: End = { field: "viewer", one: "viewer" };

/** The edge of a list, from one field of a payload to another. `isLater`: the list may be on another host, which gets the edge later. */
function edgeField(
	list: List,
	from: End,
	to: End,
	loc: Location | undefined,
	{ prefix = "", isLater = false } = {},
): FieldDefinitionNode {
	const name = prefix === "" ? lowerFirst(list.edge) : `${prefix}${list.edge}`;
	const later = isLater
		? `; null as long as the ${from.one}'s host has not taken the change`
		: "";
	const [field] =
		object("", "", loc, [
			[
				name,
				list.edge,
				`The edge to the ${to.one} in the ${from.one}'s \`${list.field}\`${later}.`,
			],
		]).fields ?? [];
	if (field === undefined) throw new TypeError("expected the field just made");
	const given = { mapping: list.name, from: from.field, to: to.field };
	return {
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
	};
}

function withEdges(
	made: MadeMutation,
	edges: readonly FieldDefinitionNode[],
): MadeMutation {
	const { payload } = made;
	const fields = [...(payload.fields ?? []), ...edges];
	return { ...made, payload: { ...payload, fields } };
}

/** Whether clients give it: a stored value that is no time. */
function isWritten(field: FieldDefinitionNode): boolean {
	return (
		directiveOf(field, "stored") !== undefined &&
		nameIn(field.type) !== "DateTime"
	);
}

/** The field of an input, as `fieldsToCreate` and `fieldsToUpdate` read it. */
function inputOf(
	type: string,
	field: FieldDefinitionNode,
	isNew: boolean,
	sdl: Sdl,
): MadeField {
	const fallback = directiveOf(field, "stored")?.arguments?.find(
		({ name }) => name.value === "default",
	)?.value;
	const isText = fallback?.kind === Kind.STRING && fallback.value === "";
	const isSaid = isNew && fallback !== undefined && !isText;
	const name = field.name.value;
	const values = sdl.describe(type, name);
	return [
		name,
		`${sdl.inputType(field.type)}${isNew && isText ? "!" : ""}`,
		[
			field.description?.value ?? `The ${words(name)}.`,
			...(values === null ? [] : [`${values}${isText ? ", not empty" : ""}.`]),
			...(isSaid ? [`Default: ${print(fallback)}.`] : []),
		].join(" "),
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

function upperFirst(name: string): string {
	return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function lowerFirst(name: string): string {
	return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}
