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
import type { Random } from "../../src/util/random.ts";
import { pageArguments } from "./arguments.ts";
import { Draft, type Position } from "./draft.ts";
import type { GraphSamples } from "./graphSamples.ts";
import { mutationInput } from "./inputs.ts";
import { introspection } from "./introspection.ts";
import { firstObjects, manyObjects, oneObject } from "./objects.ts";
import type { Operation } from "./operation.ts";

type Composite = GraphQLObjectType | GraphQLInterfaceType;
type Field = GraphQLField<unknown, unknown>;

/** The most nested objects. */
const MAX_DEPTH = 4;
/** The most nested fragments. */
const MAX_FRAGMENTS = 3;
/** The most objects that a portable fragment may be spread on. */
const PORTABLE_COUNT = 30;

/**
 * A random operation, valid by construction, as one request or two. The second
 * has the same document with other variables.
 */
export function generate(
	random: Random,
	samples: GraphSamples,
	kind: "query" | "mutation",
): readonly Operation[] {
	const draft = new Draft(random, {
		reads: random.integer(10, 400),
		selections: random.integer(6, 60),
	});
	const generator = new OperationGenerator(
		draft,
		samples,
		random.pick(samples.viewers),
	);
	const root =
		kind === "query"
			? samples.schema.getQueryType()
			: samples.schema.getMutationType();
	if (!root) throw new TypeError(`the schema has no type for a ${kind}`);
	const selection = generator.root(root);
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
		viewer: generator.viewer,
	};
	const booleans = draft.booleans();
	if (kind === "mutation" || booleans.length === 0) return [operation];
	// The same document with other conditions has another plan.
	const variables = { ...draft.values };
	for (const each of booleans) variables[each] = random.chance(0.5);
	return [operation, { ...operation, variables }];
}

class OperationGenerator {
	readonly viewer: GraphSamples["viewers"][number];
	readonly #draft: Draft;
	readonly #random: Random;
	readonly #samples: GraphSamples;

	constructor(
		draft: Draft,
		samples: GraphSamples,
		viewer: GraphSamples["viewers"][number],
	) {
		this.viewer = viewer;
		this.#draft = draft;
		this.#random = draft.random;
		this.#samples = samples;
	}

	root(type: GraphQLObjectType): string {
		return this.#selection(type, {
			path: "",
			count: 1,
			depth: 0,
			owner: null,
			size: 0,
			concrete: null,
		});
	}

	/** A selection set with at least one field. */
	#selection(type: Composite, position: Position, fragments = 0): string {
		const items: string[] = [];
		const fewest = position.path === "" ? 2 : 1;
		for (let more = this.#random.integer(fewest, 5); more > 0; more--) {
			if (items.length > 0 && this.#draft.selections <= 0) break;
			this.#draft.selections -= 1;
			const item = this.#item(type, position, fragments);
			if (item !== null) items.push(item);
		}
		if (items.length === 0) items.push(this.#typename(type, position));
		return `{ ${items.join(" ")} }`;
	}

	/** A field or fragment; null for one that the budget does not allow. */
	#item(type: Composite, position: Position, fragments: number): string | null {
		const draw = this.#random.fraction();
		if (fragments < MAX_FRAGMENTS && this.#draft.selections > 0) {
			if (draw < 0.1 || (isInterfaceType(type) && draw < 0.6)) {
				return this.#inlineFragment(type, position, fragments + 1);
			}
			if (draw < 0.14)
				return this.#namedFragment(type, position, fragments + 1);
			if (draw < 0.18 && isObjectType(type) && !this.#isRoot(type)) {
				return this.#portableFragment(type, position);
			}
		}
		if (draw < 0.21) return this.#typename(type, position);
		if (draw < 0.29) return this.#repeatField(type, position);
		if (draw < 0.3 && type.name === "Query") {
			return introspection(this.#draft, position);
		}
		return this.#newField(type, position);
	}

	#inlineFragment(
		type: Composite,
		position: Position,
		fragments: number,
	): string {
		const { inner, inside } = this.#overlapping(type, position);
		const on =
			inner === type && this.#random.chance(0.4) ? "" : ` on ${inner.name}`;
		const directives = this.#directives();
		return `...${on}${directives} ${this.#selection(inner, inside, fragments)}`;
	}

	/** Spread at this position only, once or twice, so it shares the keys of the position. */
	#namedFragment(
		type: Composite,
		position: Position,
		fragments: number,
	): string {
		const { inner, inside } = this.#overlapping(type, position);
		const name = this.#draft.name("Here");
		const selection = this.#selection(inner, inside, fragments);
		this.#draft.fragments.push(
			`fragment ${name} on ${inner.name} ${selection}`,
		);
		const spreads = [`...${name}${this.#directives()}`];
		if (this.#random.chance(0.3)) spreads.push(`...${name}`);
		return spreads.join(" ");
	}

	/** Its keys are unique, so it can be spread wherever its type occurs. */
	#portableFragment(
		type: GraphQLObjectType,
		position: Position,
	): string | null {
		const draft = this.#draft;
		const known = draft.portable.get(type.name) ?? [];
		if (position.count > PORTABLE_COUNT || position.depth > 1) return null;
		if (known.length > 0 && this.#random.chance(0.6)) {
			return `...${this.#random.pick(known)}${this.#directives()}`;
		}
		const name = draft.name("Anywhere");
		const inside: Position = {
			path: `${name}:`,
			count: PORTABLE_COUNT,
			depth: MAX_DEPTH - 1,
			owner: null,
			size: position.size,
			concrete: null,
		};
		const fields = Array.from({ length: this.#random.integer(1, 3) }, () =>
			this.#newField(type, inside, () => draft.name(`${name}_`)),
		).filter((field) => field !== null);
		if (fields.length === 0) return null;
		draft.fragments.push(
			`fragment ${name} on ${type.name} { ${fields.join(" ")} }`,
		);
		// Registered last, because a fragment must not spread itself.
		draft.portable.set(type.name, [...known, name]);
		return `...${name}`;
	}

	/** The type itself, its interface, or one of its concrete types. */
	#overlapping(
		type: Composite,
		position: Position,
	): { readonly inner: Composite; readonly inside: Position } {
		const random = this.#random;
		if (isInterfaceType(type)) {
			const { concrete } = position;
			const types = this.#samples.schema.getPossibleTypes(type);
			const likely = types.find(({ name }) => name === concrete);
			const inner = random.chance(0.1)
				? type
				: likely && random.chance(0.7)
					? likely
					: random.pick(types);
			return { inner, inside: position };
		}
		const interfaces = type.getInterfaces();
		const inner =
			interfaces.length > 0 && random.chance(0.4)
				? random.pick(interfaces)
				: type;
		return { inner, inside: { ...position, concrete: type.name } };
	}

	#typename(type: Composite, position: Position): string {
		const field = {
			parent: type.name,
			isObject: isObjectType(type),
			name: "__typename",
			args: "",
			type: "String!",
		};
		const key = this.#draft.key(position, field);
		this.#draft.select(position, { ...field, key, below: position });
		return `${named(key, "__typename")}${this.#directives()}`;
	}

	/** Repeats a field of this position, with another selection set. */
	#repeatField(type: Composite, position: Position): string | null {
		const selected = this.#draft.selected(position, type.name);
		if (selected.length === 0) return null;
		const { key, name, args, below } = this.#random.pick(selected);
		const inner = type.getFields()[name]?.type;
		const of = inner && getNamedType(inner);
		if (type === this.#samples.schema.getMutationType()) return null;
		const selection =
			isObjectType(of) || isInterfaceType(of)
				? ` ${this.#selection(of, below, MAX_FRAGMENTS - 1)}`
				: "";
		if (name === "__schema" || name === "__type") return null;
		return `${named(key, name)}${args}${this.#directives()}${selection}`;
	}

	#newField(
		type: Composite,
		position: Position,
		keyOf?: () => string,
	): string | null {
		const field = this.#pickField(type, position);
		const given = this.#argumentsOf(type, field, position);
		if (given === null) return null;
		const of = getNamedType(field.type);
		const selected = {
			parent: type.name,
			isObject: isObjectType(type),
			name: field.name,
			args: given.args,
			type: String(field.type),
		};
		const key = keyOf?.() ?? this.#draft.key(position, selected);
		const below = { ...given.below, path: `${position.path}.${key}` };
		this.#draft.select(position, { ...selected, key, below });
		const selection =
			isObjectType(of) || isInterfaceType(of)
				? ` ${this.#selection(of, below)}`
				: "";
		return `${named(key, field.name)}${given.args}${this.#directives()}${selection}`;
	}

	#pickField(type: Composite, { depth }: Position): Field {
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
		// Later operations can use the ids of objects that mutations create.
		if (id && !isDeep && this.#random.chance(0.2)) return id;
		return this.#random.pick(isDeep && deep.length > 0 ? deep : leaves);
	}

	/** A field's arguments, and the position below it. Null if the budget does not allow it. */
	#argumentsOf(
		type: Composite,
		field: Field,
		position: Position,
	): { readonly args: string; readonly below: Position } | null {
		const draft = this.#draft;
		const samples = this.#samples;
		const of = getNamedType(field.type).name;
		const below = { ...position, owner: null, size: 0, concrete: null };
		if (of.endsWith("Connection")) {
			const connection = `${type.name}.${field.name}`;
			const root = type.name === "Query" ? "root" : position.owner;
			const page = pageArguments(draft, samples, connection, {
				...position,
				owner: root,
			});
			if (page === null) return null;
			draft.budget -= position.count * page.size;
			return { args: page.args, below: { ...below, size: page.size } };
		}
		if (type.name.endsWith("Connection")) {
			const isItems = field.name === "edges" || field.name === "nodes";
			const many = isItems
				? Math.max(1, position.count * position.size)
				: position.count;
			const depth =
				field.name === "nodes" ? position.depth + 1 : position.depth;
			return { args: "", below: { ...below, count: many, depth } };
		}
		const deeper = { ...below, depth: position.depth + 1 };
		if (type.name === "Mutation") {
			const input = mutationInput(draft, samples, this.viewer, field.name);
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
		if (field.args.some(({ name }) => name === "first")) {
			return firstObjects(draft, samples, field, deeper);
		}
		return field.name === "nodes"
			? manyObjects(draft, samples, deeper)
			: oneObject(draft, samples, field, deeper);
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
		const { schema } = this.#samples;
		return type === schema.getQueryType() || type === schema.getMutationType();
	}
}

function named(key: string, name: string): string {
	return key === name ? name : `${key}: ${name}`;
}
