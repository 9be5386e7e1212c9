import {
	type GraphQLField,
	type GraphQLInterfaceType,
	type GraphQLObjectType,
	getNamedType,
	isInterfaceType,
	isLeafType,
	isObjectType,
	parse,
} from "graphql";
import type { Random } from "../../src/demo/random.ts";
import { pageArguments } from "./arguments.ts";
import { Draft, type Place } from "./draft.ts";
import { mutationInput } from "./inputs.ts";
import { introspection } from "./introspection.ts";
import { manyObjects, oneObject } from "./objects.ts";
import type { Operation } from "./operation.ts";
import type { Surroundings } from "./surroundings.ts";

type Composite = GraphQLObjectType | GraphQLInterfaceType;
type Field = GraphQLField<unknown, unknown>;

/** How many objects may stand above one another. */
const MAX_DEPTH = 4;
/** How many fragments may. */
const MAX_FRAGMENTS = 3;
/** A fragment that may be spread anywhere is made for as many objects. */
const PORTABLE_MANY = 30;

/**
 * A random operation, valid by construction, as one or more requests: the same
 * document with other variables after the first.
 */
export function generate(
	random: Random,
	around: Surroundings,
	kind: "query" | "mutation",
): readonly Operation[] {
	const draft = new Draft(random, {
		reads: random.integer(10, 400),
		selections: random.integer(6, 60),
	});
	const making = new Making(draft, around, random.pick(around.viewers));
	const root =
		kind === "query"
			? around.schema.getQueryType()
			: around.schema.getMutationType();
	if (!root) throw new TypeError(`expected a schema with a type of ${kind}`);
	const selection = making.root(root);
	const isNamed = random.chance(0.3);
	const name = isNamed ? "Chosen" : "";
	const others =
		isNamed && random.chance(0.5) ? ["query Other { viewer { id } }"] : [];
	const text = random
		.shuffled([
			`${kind} ${name}${draft.definitions} ${selection}`,
			...draft.fragments,
			...others,
		])
		.join("\n");
	const operation: Operation = {
		text,
		document: parse(text),
		operationName:
			others.length > 0 || (isNamed && random.chance(0.5)) ? name : null,
		variables: draft.values,
		viewer: making.viewer,
	};
	const booleans = draft.booleans();
	if (kind === "mutation" || booleans.length === 0) return [operation];
	// The same document, its conditions otherwise: another plan.
	const variables = { ...draft.values };
	for (const each of booleans) variables[each] = random.chance(0.5);
	return [operation, { ...operation, variables }];
}

class Making {
	readonly viewer: Surroundings["viewers"][number];
	readonly #draft: Draft;
	readonly #random: Random;
	readonly #around: Surroundings;

	constructor(
		draft: Draft,
		around: Surroundings,
		viewer: Surroundings["viewers"][number],
	) {
		this.viewer = viewer;
		this.#draft = draft;
		this.#random = draft.random;
		this.#around = around;
	}

	root(type: GraphQLObjectType): string {
		return this.#selection(type, {
			path: "",
			many: 1,
			depth: 0,
			owner: null,
			size: 0,
			concrete: null,
		});
	}

	/** `{ … }` of a type, with at least one field. */
	#selection(type: Composite, place: Place, fragments = 0): string {
		const items: string[] = [];
		const fewest = place.path === "" ? 2 : 1;
		for (let more = this.#random.integer(fewest, 5); more > 0; more--) {
			if (items.length > 0 && this.#draft.selections <= 0) break;
			this.#draft.selections -= 1;
			const item = this.#item(type, place, fragments);
			if (item !== null) items.push(item);
		}
		if (items.length === 0) items.push(this.#typename(type, place));
		return `{ ${items.join(" ")} }`;
	}

	/** A field or a fragment; null for one that would not fit. */
	#item(type: Composite, place: Place, fragments: number): string | null {
		const draw = this.#random.fraction();
		if (fragments < MAX_FRAGMENTS && this.#draft.selections > 0) {
			if (draw < 0.1 || (isInterfaceType(type) && draw < 0.6)) {
				return this.#inlineFragment(type, place, fragments + 1);
			}
			if (draw < 0.14) return this.#namedFragment(type, place, fragments + 1);
			if (draw < 0.18 && isObjectType(type) && !this.#isRoot(type)) {
				return this.#portableFragment(type, place);
			}
		}
		if (draw < 0.21) return this.#typename(type, place);
		if (draw < 0.29) return this.#again(type, place);
		if (draw < 0.3 && type.name === "Query") {
			return introspection(this.#draft, place);
		}
		return this.#newField(type, place);
	}

	#inlineFragment(type: Composite, place: Place, fragments: number): string {
		const { inner, inside } = this.#overlapping(type, place);
		const on =
			inner === type && this.#random.chance(0.4) ? "" : ` on ${inner.name}`;
		const directives = this.#directives();
		return `...${on}${directives} ${this.#selection(inner, inside, fragments)}`;
	}

	/** Spread here once or twice: its keys are those of this place. */
	#namedFragment(type: Composite, place: Place, fragments: number): string {
		const { inner, inside } = this.#overlapping(type, place);
		const name = this.#draft.name("Here");
		const selection = this.#selection(inner, inside, fragments);
		this.#draft.fragments.push(
			`fragment ${name} on ${inner.name} ${selection}`,
		);
		const spreads = [`...${name}${this.#directives()}`];
		if (this.#random.chance(0.3)) spreads.push(`...${name}`);
		return spreads.join(" ");
	}

	/** Its keys are its own, so that it may be spread wherever its type stands. */
	#portableFragment(type: GraphQLObjectType, place: Place): string | null {
		const draft = this.#draft;
		const known = draft.portable.get(type.name) ?? [];
		if (place.many > PORTABLE_MANY || place.depth > 1) return null;
		if (known.length > 0 && this.#random.chance(0.6)) {
			return `...${this.#random.pick(known)}${this.#directives()}`;
		}
		const name = draft.name("Anywhere");
		const inside: Place = {
			path: `${name}:`,
			many: PORTABLE_MANY,
			depth: MAX_DEPTH - 1,
			owner: null,
			size: place.size,
			concrete: null,
		};
		const fields = Array.from({ length: this.#random.integer(1, 3) }, () =>
			this.#newField(type, inside, () => draft.name(`${name}_`)),
		).filter((field) => field !== null);
		if (fields.length === 0) return null;
		draft.fragments.push(
			`fragment ${name} on ${type.name} { ${fields.join(" ")} }`,
		);
		// Only now: one that spread itself would not be valid.
		draft.portable.set(type.name, [...known, name]);
		return `...${name}`;
	}

	/** The type itself, its interface, or one of its objects' types. */
	#overlapping(
		type: Composite,
		place: Place,
	): { readonly inner: Composite; readonly inside: Place } {
		const random = this.#random;
		if (isInterfaceType(type)) {
			const { concrete } = place;
			const types = this.#around.schema.getPossibleTypes(type);
			const likely = types.find(({ name }) => name === concrete);
			const inner = random.chance(0.1)
				? type
				: likely && random.chance(0.7)
					? likely
					: random.pick(types);
			return { inner, inside: place };
		}
		const interfaces = type.getInterfaces();
		const inner =
			interfaces.length > 0 && random.chance(0.4)
				? random.pick(interfaces)
				: type;
		return { inner, inside: { ...place, concrete: type.name } };
	}

	#typename(type: Composite, place: Place): string {
		const field = {
			parent: type.name,
			isObject: isObjectType(type),
			name: "__typename",
			args: "",
			type: "String!",
		};
		const key = this.#draft.key(place, field);
		this.#draft.select(place, { ...field, key, below: place });
		return `${named(key, "__typename")}${this.#directives()}`;
	}

	/** A field that this place has already, with more selected of it. */
	#again(type: Composite, place: Place): string | null {
		const before = this.#draft.selected(place, type.name);
		if (before.length === 0) return null;
		const { key, name, args, below } = this.#random.pick(before);
		const inner = type.getFields()[name]?.type;
		const of = inner && getNamedType(inner);
		if (type === this.#around.schema.getMutationType()) return null;
		const selection =
			isObjectType(of) || isInterfaceType(of)
				? ` ${this.#selection(of, below, MAX_FRAGMENTS - 1)}`
				: "";
		if (name === "__schema" || name === "__type") return null;
		return `${named(key, name)}${args}${this.#directives()}${selection}`;
	}

	#newField(
		type: Composite,
		place: Place,
		keyOf?: () => string,
	): string | null {
		const field = this.#pickField(type, place);
		const asked = this.#argumentsOf(type, field, place);
		if (asked === null) return null;
		const of = getNamedType(field.type);
		const selected = {
			parent: type.name,
			isObject: isObjectType(type),
			name: field.name,
			args: asked.args,
			type: String(field.type),
		};
		const key = keyOf?.() ?? this.#draft.key(place, selected);
		const below = { ...asked.below, path: `${place.path}.${key}` };
		this.#draft.select(place, { ...selected, key, below });
		const selection =
			isObjectType(of) || isInterfaceType(of)
				? ` ${this.#selection(of, below)}`
				: "";
		return `${named(key, field.name)}${asked.args}${this.#directives()}${selection}`;
	}

	#pickField(type: Composite, { depth }: Place): Field {
		const fields = Object.values(type.getFields());
		const leaves = fields.filter((field) =>
			isLeafType(getNamedType(field.type)),
		);
		const deep = fields.filter((field) => !leaves.includes(field));
		const isDeep =
			leaves.length === 0 ||
			(depth < MAX_DEPTH &&
				this.#draft.selections > 0 &&
				this.#random.chance(0.6));
		const { id } = type.getFields();
		// What is new is known by its id to operations that come later.
		if (id && !isDeep && this.#random.chance(0.2)) return id;
		return this.#random.pick(isDeep && deep.length > 0 ? deep : leaves);
	}

	/** A field's arguments, and what stands below it then. Null if that would be too much. */
	#argumentsOf(
		type: Composite,
		field: Field,
		place: Place,
	): { readonly args: string; readonly below: Place } | null {
		const draft = this.#draft;
		const around = this.#around;
		const of = getNamedType(field.type).name;
		const below = { ...place, owner: null, size: 0, concrete: null };
		if (of.endsWith("Connection")) {
			const connection = `${type.name}.${field.name}`;
			const root = type.name === "Query" ? "root" : place.owner;
			const page = pageArguments(draft, around, connection, {
				...place,
				owner: root,
			});
			if (page === null) return null;
			draft.budget -= place.many * page.size;
			return { args: page.args, below: { ...below, size: page.size } };
		}
		if (type.name.endsWith("Connection")) {
			const isItems = field.name === "edges" || field.name === "nodes";
			const many = isItems ? Math.max(1, place.many * place.size) : place.many;
			const depth = field.name === "nodes" ? place.depth + 1 : place.depth;
			return { args: "", below: { ...below, many, depth } };
		}
		const deeper = { ...below, depth: place.depth + 1 };
		if (type.name === "Mutation") {
			const input = mutationInput(draft, around, this.viewer, field.name);
			return { args: input, below: { ...deeper, depth: MAX_DEPTH - 2 } };
		}
		if (type.name !== "Query") {
			return {
				args: "",
				below: isLeafType(getNamedType(field.type)) ? below : deeper,
			};
		}
		if (field.name === "viewer") {
			return { args: "", below: { ...deeper, owner: this.viewer } };
		}
		return field.name === "nodes"
			? manyObjects(draft, around, deeper)
			: oneObject(draft, around, field, deeper);
	}

	#directives(): string {
		const random = this.#random;
		const one = (name: string, often: boolean) =>
			` @${name}(if: ${this.#draft.value("Boolean!", random.chance(often ? 0.85 : 0.15))})`;
		const draw = random.fraction();
		if (draw < 0.05) return one("include", true);
		if (draw < 0.1) return one("skip", false);
		return draw < 0.11 ? one("include", true) + one("skip", false) : "";
	}

	#isRoot(type: Composite): boolean {
		const { schema } = this.#around;
		return type === schema.getQueryType() || type === schema.getMutationType();
	}
}

function named(key: string, name: string): string {
	return key === name ? name : `${key}: ${name}`;
}
