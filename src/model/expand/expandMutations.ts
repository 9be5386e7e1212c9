import {
	type ASTNode,
	type ConstDirectiveNode,
	type DefinitionNode,
	type DocumentNode,
	type FieldDefinitionNode,
	type InputObjectTypeDefinitionNode,
	Kind,
	type Location,
	type NameNode,
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
			/** The field that names the object at the end: `pin` of `pinId`. */
			readonly field: string;
			/** Whose list it is; null for the viewer's. */
			readonly list: DeclaredList | null;
	  }
	| {
			readonly kind: "move";
			readonly mapping: string;
			readonly type: string;
			/** The reference that the list follows. */
			readonly reference: string;
			/** Whose list it is; null for the viewer's. */
			readonly list: DeclaredList | null;
	  }
);

/** The objects that own lists which `@mutations` changes. */
export interface DeclaredList {
	readonly type: string;
	/** The reference to the viewer who may change such an object; null if the type has none. */
	readonly owner: string | null;
	/** The field of inputs and payloads that names the object. */
	readonly field: string;
}

/** What to say of the values that a stored field of a type may have: `At most 100 characters`. */
export type DescribeValues = (type: string, field: string) => string | null;

/** Takes what cannot be made: where it is declared, and a sentence. */
export type ReportProblem = (node: ASTNode, problem: string) => void;

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
	report: ReportProblem,
): WithMutations {
	const sdl = new Sdl(document, describe);
	const made = document.definitions.flatMap((definition) =>
		isObject(definition) ? madeOf(definition, sdl, report) : [],
	);
	if (made.length === 0) return { document, mutations: [] };
	const whole = new Map<string, Made>();
	const names = new Set<string>();
	for (const { input, payload, field } of made) {
		const name = field.name.value;
		if (names.has(name)) {
			report(field, `@mutations makes ${name} twice: give one another name`);
		}
		names.add(name);
		whole.set(input.name.value, input);
		whole.set(payload.name.value, payload);
	}
	const byName = new Map(made.map(({ field }) => [field.name.value, field]));
	const known = new Set(sdl.fieldsOf("Mutation").map(({ name }) => name.value));
	const lacking = [...byName.values()].filter(
		({ name }) => !known.has(name.value),
	);
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
	/** What `@mutations(owner:)` names, by type. */
	readonly #owners = new Map<string, string>();
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
			const declared = directiveOf(definition, "mutations");
			const owner = declared && textArgument(declared, "owner");
			if (owner) this.#owners.set(value, owner);
		}
	}

	/** The reference to the viewer who may change objects of a type; null if it has none. */
	ownerOf(type: string): string | null {
		const named = this.#owners.get(type);
		return named ?? (this.typeOf(type, "owner") === null ? null : "owner");
	}

	fieldsOf(type: string): readonly FieldDefinitionNode[] {
		return this.#fields.get(type) ?? [];
	}

	#field(type: string, field: string): FieldDefinitionNode | undefined {
		return this.fieldsOf(type).find(({ name }) => name.value === field);
	}

	/** The type that a field leads to. */
	typeOf(type: string, field: string): string | null {
		const found = this.#field(type, field);
		return found === undefined ? null : nameIn(found.type);
	}

	isReference(type: string, field: string): boolean {
		const found = this.#field(type, field);
		return found !== undefined && directiveOf(found, "reference") !== undefined;
	}

	/** Whether viewers are of this type, as far as the SDL says. */
	isViewer(type: string): boolean {
		const viewer = this.typeOf("Query", "viewer");
		return viewer === null || viewer === type;
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
		const field = this.#field(to, inverse);
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

function madeOf(
	definition: Fields,
	sdl: Sdl,
	report: ReportProblem,
): readonly MadeMutation[] {
	const type = definition.name.value;
	const declared = directiveOf(definition, "mutations");
	const refused = declared && whyRefused(declared, OF_TYPES, "a list");
	if (refused) report(declared, `${type} ${refused}`);
	const own =
		declared === undefined || refused
			? []
			: ofObject(type, declared, sdl, report);
	const edges = (definition.fields ?? []).flatMap((field) => {
		const mutations = directiveOf(field, "mutations");
		if (mutations === undefined) return [];
		const mapping = directiveOf(field, "mapping");
		const name = mapping && textArgument(mapping, "name");
		const problem = (message: string): readonly MadeMutation[] => {
			report(mutations, `${type}.${field.name.value} ${message}`);
			return [];
		};
		if (!mapping || !name) return problem("has @mutations, but no @mapping");
		const refused = whyRefused(mutations, OF_LISTS, "a type");
		if (refused !== null) return problem(refused);
		const inverse = textArgument(mapping, "inverse");
		const reference =
			inverse !== null && sdl.isReference(sdl.listed(field.type), inverse)
				? inverse
				: null;
		const given = { from: type, list: field, declared: mutations, name, sdl };
		const moved = textArgument(mutations, "move");
		const changes = ["add", "remove"].some(
			(kind) => textArgument(mutations, kind) !== null,
		);
		if (!changes && moved === null) {
			return problem("has @mutations without add, remove or move");
		}
		if (changes && type === "Query") {
			return problem(
				"is a list of Query: it changes as objects are created and deleted, and not by add and remove",
			);
		}
		if (reference === null) {
			return moved === null
				? ofMapping({ ...given, inverse })
				: problem("follows no @reference, so nothing on it can be moved");
		}
		if (changes) {
			return problem(
				`follows ${sdl.listed(field.type)}.${reference}: what is on it changes with that, and not by add and remove`,
			);
		}
		return moved !== null && enumArgument(mapping, "order") === "POSITION"
			? [ofOrder({ ...given, moved, reference })]
			: problem("is not ordered by POSITION, so nothing on it can be moved");
	});
	return [...own, ...edges];
}

/** The arguments of `@mutations` on a type, and on a list. */
const OF_TYPES: readonly string[] = ["owner", "in", "create"];
const OF_LISTS: readonly string[] = ["add", "remove", "move"];

/** What is wrong with the arguments of a `@mutations` by themselves; null: nothing. */
function whyRefused(
	declared: ConstDirectiveNode,
	known: readonly string[],
	/** What the other arguments are for. */
	others: string,
): string | null {
	for (const { name } of declared.arguments ?? []) {
		const given = textArgument(declared, name.value);
		if (given === null) continue;
		if (!known.includes(name.value)) {
			return `has @mutations(${name.value}:), which is for ${others}`;
		}
		if (!/^(?!__)[_A-Za-z][_0-9A-Za-z]*$/.test(given)) {
			return `has @mutations(${name.value}:) with ${JSON.stringify(given)}, which is no name`;
		}
	}
	return null;
}

interface GivenList {
	readonly from: string;
	readonly list: FieldDefinitionNode;
	readonly declared: ConstDirectiveNode;
	/** The mapping. */
	readonly name: string;
	readonly sdl: Sdl;
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
	report: ReportProblem,
): readonly MadeMutation[] {
	const { loc } = declared;
	for (const name of ["owner", "in"]) {
		const field = textArgument(declared, name);
		if (field === null || sdl.isReference(type, field)) continue;
		report(
			declared,
			`@mutations(${name}:) of ${type} must name a @reference of ${type}, got ${field}`,
		);
		return [];
	}
	const owner = sdl.ownerOf(type);
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
function ofMapping({
	from,
	list,
	declared,
	name: mapping,
	inverse,
	sdl,
}: GivenList & { readonly inverse: string | null }): readonly MadeMutation[] {
	const to = sdl.listed(list.type);
	const { loc } = declared;
	const isOwn = sdl.isViewer(from);
	const owner: End = isOwn
		? VIEWER
		: { field: lowerFirst(from), one: words(from) };
	// On the viewer's own list the viewer is one of two users, so the other needs no other name.
	const isTwice = !isOwn && from === to;
	const end: End = isTwice
		? { field: `other${to}`, one: `other ${words(to)}` }
		: { field: lowerFirst(to), one: words(to) };
	const where = (one: string, { value }: NameNode) =>
		`the ${one}'s \`${value}\``;
	const viewer: MadeField = [
		"viewer",
		sdl.viewer,
		"The viewer after the change.",
	];
	const own = sdl.list(list);
	const other = inverse === null ? null : sdl.inverseOf(from, to, inverse);
	return (["add", "remove"] as const).flatMap((kind) => {
		const name = textArgument(declared, kind);
		if (name === null) return [];
		const isAdd = kind === "add";
		const verb =
			isOwn && name.endsWith(to) ? words(name.slice(0, -to.length)) : "";
		const { one } = end;
		const some = isTwice ? `another ${words(to)}` : article(one);
		const hidden = isAdd ? "" : "; null if the viewer no longer sees it";
		const after = ({ field, one }: End, type: string): MadeField => [
			field,
			type,
			`The ${one} after the change${hidden}.`,
		];
		const idOf = ({ field, one }: End): MadeField => [
			`${field}Id`,
			"ID!",
			`The ${one}'s id.`,
		];
		const removed = ({ field, one }: End, of: string): MadeField => [
			`removed${upperFirst(field)}Id`,
			"ID",
			`The id of the ${one} that was removed from ${of}.`,
		];
		const made = mutationOf(name, loc, {
			description:
				verb === ""
					? `${isAdd ? `Add ${some} to` : `Remove ${some} from`} ${isOwn ? where("viewer", list.name) : `a ${owner.one}'s \`${list.name.value}\``}.`
					: `${upperFirst(verb)} ${article(one)}.`,
			input: isOwn
				? `The ${one} to ${verb === "" ? kind : verb}.`
				: `The ${owner.one} and the ${one} to ${kind}.`,
			mutation: {
				name,
				kind,
				mapping,
				to,
				field: end.field,
				list: isOwn
					? null
					: { type: from, owner: sdl.ownerOf(from), field: owner.field },
			},
			inputFields: [...(isOwn ? [] : [idOf(owner)]), idOf(end)],
			payload: [
				...(isOwn ? [] : [after(owner, from)]),
				after(end, to),
				...(isAdd ? [] : [removed(end, where(owner.one, list.name))]),
				...(isAdd || isOwn || other === null
					? []
					: [removed(owner, `the ${one}'s \`${other.field}\``)]),
				viewer,
			],
		});
		if (!isAdd) return [made];
		return [
			withEdges(made, [
				...(own === null ? [] : [edgeField(own, owner, end, loc)]),
				...(other === null
					? []
					: [
							edgeField(other, end, owner, loc, {
								isLater: true,
								prefix:
									other.edge === own?.edge ? (isOwn ? "viewer" : "other") : "",
							}),
						]),
			]),
		];
	});
}

/** Move. */
function ofOrder({
	from,
	list,
	declared,
	name: mapping,
	moved: name,
	reference,
	sdl,
}: GivenList & {
	readonly moved: string;
	readonly reference: string;
}): MadeMutation {
	const type = sdl.listed(list.type);
	const { loc } = declared;
	const isOwn = sdl.isViewer(from);
	const one = words(type);
	const field = lowerFirst(type);
	const owner: End = isOwn
		? VIEWER
		: { field: reference, one: words(reference) };
	const beside = (side: "before" | "after"): MadeField => [
		`${side}${type}Id`,
		"ID",
		`The ${one} of the ${owner.one} to place it ${side}.${side === "before" ? ` Cannot be combined with \`after${type}Id\`.` : ""}`,
	];
	const own = sdl.list(list);
	const made = mutationOf(name, loc, {
		description: `Move ${article(one)} within ${isOwn ? "the viewer's" : `its ${owner.one}'s`} \`${list.name.value}\`.`,
		input: `The ${one} to move, and its new position: before or after another ${one} of ${isOwn ? "the viewer" : `its ${owner.one}`}, or the top if neither is given.`,
		mutation: {
			name,
			kind: "move",
			mapping,
			type,
			reference,
			list: isOwn
				? null
				: { type: from, owner: sdl.ownerOf(from), field: reference },
		},
		inputFields: [
			[`${field}Id`, "ID!", `The ${one}'s id.`],
			beside("before"),
			beside("after"),
		],
		payload: [
			[field, type, `The ${one} after the change.`],
			isOwn
				? ["viewer", sdl.viewer, "The viewer after the change."]
				: [reference, from, `The ${one}'s ${owner.one}.`],
		],
	});
	return own === null
		? made
		: withEdges(made, [
				edgeField(own, owner, { field, one }, loc, { isLater: true }),
			]);
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

function enumArgument(
	directive: ConstDirectiveNode,
	name: string,
): string | null {
	const value = directive.arguments?.find(
		(each) => each.name.value === name,
	)?.value;
	return value?.kind === Kind.ENUM ? value.value : null;
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
