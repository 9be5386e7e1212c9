import {
	type ConstDirectiveNode,
	type DefinitionNode,
	type DocumentNode,
	type FieldDefinitionNode,
	type InputValueDefinitionNode,
	isTypeDefinitionNode,
	Kind,
	type ListTypeNode,
	type Location,
	type NamedTypeNode,
	type NameNode,
	type ObjectTypeDefinitionNode,
	parse,
	parseType,
	type StringValueNode,
	type TypeNode,
} from "graphql";

/**
 * Completes the pages of lists. A field `pins: [Pin] @mapping(…)` declares a connection:
 * its arguments, and the types `PinConnection` and `PinEdge`, are made, or other ones with
 * `edges: "LikedPin"`. Of a type that is written by hand only the fields are made that it
 * lacks. What is made stands where the field is, so that a problem has a line.
 */
export function expandPages(document: DocumentNode): DocumentNode {
	const wanted = new Map<string, Page>();
	const types = definedIn(document);
	const typeOf = fieldTypesIn(document);
	const definitions = document.definitions.map((definition) =>
		isObject(definition)
			? {
					...definition,
					fields: (definition.fields ?? []).map((field) =>
						expandField(field, types, typeOf, wanted),
					),
				}
			: definition,
	);
	if (wanted.size === 0) return document;
	const made = new Map(
		[...wanted.values()].flatMap((page) =>
			[connectionOf(page), edgeOf(page)].map((type) => [type.name.value, type]),
		),
	);
	const completed = definitions.map((definition) => {
		if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION) return definition;
		const whole = made.get(definition.name.value);
		if (whole === undefined) return definition;
		made.delete(definition.name.value);
		return complete(definition, whole);
	});
	return { ...document, definitions: [...completed, ...made.values()] };
}

interface Page {
	/** `LikedPin` of `LikedPinConnection`. */
	readonly prefix: string;
	/** The type of its nodes. */
	readonly node: string;
	readonly loc: Location | undefined;
}

type Fields = ObjectTypeDefinitionNode & { readonly kind: string };

function isObject(definition: DefinitionNode): definition is Fields {
	return (
		definition.kind === Kind.OBJECT_TYPE_DEFINITION ||
		(definition.kind as string) === Kind.OBJECT_TYPE_EXTENSION
	);
}

/** The types that a list may be of. */
function definedIn({ definitions }: DocumentNode): ReadonlySet<string> {
	return new Set([
		"Node",
		...definitions.filter(isTypeDefinitionNode).map(({ name }) => name.value),
	]);
}

/** A list of a type that is not defined stays as it is: the one problem is then that type, on the line of the field. */
function expandField(
	field: FieldDefinitionNode,
	types: ReadonlySet<string>,
	typeOf: (type: string, field: string) => string | null,
	wanted: Map<string, Page>,
): FieldDefinitionNode {
	const mapping = field.directives?.find(
		({ name }) => name.value === "mapping",
	);
	if (mapping === undefined) return field;
	const { type } = field;
	const node = listed(type);
	if (node === null || !types.has(node)) return field;
	const prefix = textArgument(mapping, "edges") ?? node;
	const loc = field.loc;
	const known = wanted.get(prefix);
	if (known === undefined || isInternal(known.loc)) {
		wanted.set(prefix, { prefix, node, loc });
	}
	return {
		...field,
		type: named(`${prefix}Connection`, loc),
		arguments:
			(field.arguments?.length ?? 0) > 0
				? (field.arguments ?? [])
				: [...PAGE_ARGUMENTS, ...startAt()].map(([name, of, text]) =>
						argument(name, of, text, loc),
					),
	};

	function startAt(): readonly (readonly [string, string, string])[] {
		const by = mapping && textArgument(mapping, "orderBy");
		const of = by && node !== null ? typeOf(node, by) : null;
		return by && of !== null
			? [
					[
						"startAt",
						of,
						`Begin with the first item whose \`${by}\` is this, or comes after it in the list. Without effect beside \`after\`.`,
					],
				]
			: [];
	}
}

/** The named type of each field of an object type; null for one that is not there. */
function fieldTypesIn({
	definitions,
}: DocumentNode): (type: string, field: string) => string | null {
	const found = new Map(
		definitions.filter(isObject).flatMap(({ name: type, fields = [] }) =>
			fields.map(({ name, type: of }) => {
				const inner = of.kind === Kind.NON_NULL_TYPE ? of.type : of;
				return [
					`${type.value}.${name.value}`,
					inner.kind === Kind.NAMED_TYPE ? inner.name.value : null,
				] as const;
			}),
		),
	);
	return (type, field) => found.get(`${type}.${field}`) ?? null;
}

/** Whether clients do not see what is defined there: in `internal.graphql`, or `report.internal.graphql`. What only internal fields use is internal too. */
export function isInternal(loc: Location | undefined): boolean {
	return /(?:^|[\\/.])internal\.graphql$/.test(loc?.source.name ?? "");
}

/** The type in `[Pin]`; null for everything else. */
function listed(type: TypeNode): string | null {
	if (type.kind !== Kind.LIST_TYPE) return null;
	const { type: item } = type as ListTypeNode;
	return item.kind === Kind.NAMED_TYPE
		? (item as NamedTypeNode).name.value
		: null;
}

const PAGE_ARGUMENTS = [
	["first", "Int", "Number of items from the start (default 20, maximum 100)."],
	["after", "String", "Return items after this cursor."],
	[
		"last",
		"Int",
		"Number of items from the end (maximum 100). Cannot be combined with `first`.",
	],
	["before", "String", "Return items before this cursor."],
] as const;

function connectionOf({ prefix, node, loc }: Page): ObjectTypeDefinitionNode {
	const many = plural(words(node));
	return object(`${prefix}Connection`, `A page of ${many}.`, loc, [
		["edges", `[${prefix}Edge!]!`, "The page's edges, in order."],
		[
			"nodes",
			`[${node}]!`,
			`The page's ${many}, in order. One whose host does not answer is null, with an error.`,
			semanticNonNull(1),
		],
		[
			"pageInfo",
			"PageInfo!",
			"Cursors of the page, and whether further items exist.",
		],
		[
			"totalCount",
			"Int",
			"Number of edges in the list, including edges to objects that the viewer may not see.",
		],
	]);
}

function edgeOf({ prefix, node, loc }: Page): ObjectTypeDefinitionNode {
	const one = words(node);
	return object(`${prefix}Edge`, `An edge to ${article(one)} in a list.`, loc, [
		[
			"node",
			node,
			`The ${one}; null, with an error, if its host does not answer.`,
			semanticNonNull(0),
		],
		["cursor", "String!", "The cursor of this edge, for `after` and `before`."],
	]);
}

/** A type as it is written, with what it lacks of another. */
export function complete<
	T extends {
		readonly fields?: readonly { readonly name: NameNode }[] | undefined;
		readonly description?: StringValueNode | undefined;
	},
>(written: T, whole: T): T {
	const names = new Set(written.fields?.map(({ name }) => name.value));
	const description = written.description ?? whole.description;
	return {
		...written,
		...(description && { description }),
		fields: [
			...(written.fields ?? []),
			...(whole.fields ?? []).filter(({ name }) => !names.has(name.value)),
		],
	};
}

/** Name, type, description, and a directive if it has one. */
export type MadeField = readonly [string, string, string, ConstDirectiveNode?];

export function object(
	name: string,
	description: string,
	loc: Location | undefined,
	fields: readonly MadeField[],
): ObjectTypeDefinitionNode {
	return {
		kind: Kind.OBJECT_TYPE_DEFINITION,
		name: nameOf(name, loc),
		description: text(description),
		fields: fields.map(([field, type, of, directive]) => ({
			kind: Kind.FIELD_DEFINITION,
			name: nameOf(field, loc),
			description: text(of),
			type: typeOf(type),
			arguments: [],
			...(directive && { directives: [directive] }),
			...(loc && { loc }),
		})),
		...(loc && { loc }),
	};
}

function semanticNonNull(level: 0 | 1): ConstDirectiveNode {
	const text = level === 0 ? "" : `(levels: [${level}])`;
	const value = parse(`type T { f: T @semanticNonNull${text} }`, {
		noLocation: true,
	});
	const [type] = value.definitions;
	const field =
		type?.kind === Kind.OBJECT_TYPE_DEFINITION ? type.fields?.[0] : undefined;
	return field?.directives?.[0] as ConstDirectiveNode;
}

export function argument(
	name: string,
	type: string,
	description: string,
	loc: Location | undefined,
): InputValueDefinitionNode {
	return {
		kind: Kind.INPUT_VALUE_DEFINITION,
		name: nameOf(name, loc),
		description: text(description),
		type: typeOf(type),
		...(loc && { loc }),
	};
}

export function typeOf(type: string): TypeNode {
	return parseType(type, { noLocation: true });
}

export function nameOf(value: string, loc: Location | undefined): NameNode {
	return { kind: Kind.NAME, value, ...(loc && { loc }) };
}

function named(name: string, loc: Location | undefined): NamedTypeNode {
	return {
		kind: Kind.NAMED_TYPE,
		name: nameOf(name, loc),
		...(loc && { loc }),
	};
}

export function text(value: string): StringValueNode {
	return { kind: Kind.STRING, value };
}

export function textArgument(
	directive: ConstDirectiveNode,
	name: string,
): string | null {
	const value = directive.arguments?.find(
		(each) => each.name.value === name,
	)?.value;
	return value?.kind === Kind.STRING ? value.value : null;
}

/** `shopping list` of `ShoppingList`. */
export function words(name: string): string {
	return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
}

export function article(noun: string): string {
	return `${/^(?:[aeio]|u(?!ser|ni))/.test(noun) ? "an" : "a"} ${noun}`;
}

export function plural(noun: string): string {
	if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
	return /(?:s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}
