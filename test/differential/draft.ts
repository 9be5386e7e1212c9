import type { JsonValue } from "../../src/util/json.ts";
import type { Random } from "../../src/util/random.ts";
import { literal } from "./literal.ts";

/** Position of a selection set in the response. */
export interface Position {
	/** Response keys from the root. Selection sets with the same path are merged. */
	readonly path: string;
	/** The most objects at this position. It limits the cost of the operation. */
	readonly count: number;
	/** Number of objects of the graph above. */
	readonly depth: number;
	/** The id of the only object here, if known. */
	readonly owner: string | null;
	/** Inside a connection: the page size. */
	readonly size: number;
	/** Inside a fragment on an interface: the concrete type around it. */
	readonly concrete: string | null;
}

/** A selected field. Other fields may share its key if they can be merged. */
export interface Selected {
	readonly key: string;
	/** The type with the field, and whether it is an object type. */
	readonly parent: string;
	readonly isObject: boolean;
	readonly name: string;
	/** `(first: 3)`, or empty. */
	readonly args: string;
	/** The field's type. */
	readonly type: string;
	/** The position of its selection set. */
	readonly below: Position;
}

interface Variable {
	readonly type: string;
	readonly definition: string;
}

/** Keys that are legal in GraphQL and risky in JavaScript. */
const ODD_KEYS = [
	"__proto__",
	"constructor",
	"toString",
	"hasOwnProperty",
	"valueOf",
	"then",
	"length",
	"__typename",
	"id",
	"a",
	"b",
];

/** Probability of a variable that causes an error. */
const INVALID_VARIABLE = 0.007;

/** An operation during generation: its variables, fragments and response keys. */
export class Draft {
	readonly random: Random;
	/** The variables of the request. */
	readonly values: Record<string, unknown> = {};
	readonly fragments: string[] = [];
	/** By type: names of fragments that can be spread at any position. */
	readonly portable = new Map<string, string[]>();
	/** Approximate number of edges the operation may still read. */
	budget: number;
	/** Approximate number of selections it may still have. */
	selections: number;
	readonly #variables = new Map<string, Variable>();
	readonly #selected = new Map<string, Selected[]>();
	#names = 0;

	constructor(
		random: Random,
		most: { readonly reads: number; readonly selections: number },
	) {
		this.random = random;
		this.budget = most.reads;
		this.selections = most.selections;
	}

	/** `($v1: Int = 3)`, or empty. */
	get definitions(): string {
		const all = [...this.#variables].map(
			([name, { definition }]) => `$${name}: ${definition}`,
		);
		return all.length === 0 ? "" : `(${all.join(", ")})`;
	}

	/** Boolean variables. A second request may change them without a higher cost. */
	booleans(): readonly string[] {
		return [...this.#variables]
			.filter(([, { type }]) => type === "Boolean!")
			.map(([name]) => name);
	}

	name(prefix: string): string {
		this.#names += 1;
		return `${prefix}${this.#names}`;
	}

	/**
	 * A literal, or a variable with the same value. Null if the value is
	 * `undefined` and no variable is used.
	 */
	value(type: string, value: JsonValue | undefined): string | null {
		if (this.random.chance(0.4)) return `$${this.#declare(type, value)}`;
		return value === undefined ? null : literal(value);
	}

	/** A key that is free at this position, or whose fields can be merged. */
	key(position: Position, field: Omit<Selected, "key" | "below">): string {
		const { random } = this;
		const candidates = [
			...(random.chance(0.2) ? [random.pick(ODD_KEYS)] : []),
			...(random.chance(0.2) ? [random.pick(ODD_KEYS)] : []),
			field.name,
		];
		for (const key of candidates) {
			const sameKey = this.#at(position).filter((other) => other.key === key);
			if (sameKey.every((other) => canShareKey(other, field))) return key;
		}
		return this.name(`${field.name}_`);
	}

	select(position: Position, selected: Selected): void {
		this.#at(position).push(selected);
	}

	/** Fields of this type that are selected at this position already. */
	selected(position: Position, parent: string): readonly Selected[] {
		return this.#at(position).filter((field) => field.parent === parent);
	}

	#at({ path }: Position): Selected[] {
		let selected = this.#selected.get(path);
		if (selected === undefined) {
			selected = [];
			this.#selected.set(path, selected);
		}
		return selected;
	}

	#declare(type: string, value: JsonValue | undefined): string {
		const { random } = this;
		const name = this.name("v");
		const define = (definition: string) =>
			this.#variables.set(name, { type, definition });
		const required = type.endsWith("!");
		const bare = required ? type.slice(0, -1) : type;
		const other = anotherOf(bare);
		if (
			random.chance(
				bare === "Boolean" ? 3 * INVALID_VARIABLE : INVALID_VARIABLE,
			)
		) {
			// An error when variables are coerced, or only if the variable is used.
			if (random.chance(0.3) || other === undefined) {
				define(type);
				this.values[name] = { not: "this" };
			} else {
				define(`${bare} = ${literal(other)}`);
				this.values[name] = null;
			}
		} else if (value === undefined) {
			define(type);
		} else if (value !== null && random.chance(0.3)) {
			define(`${bare} = ${literal(value)}`);
		} else if (other !== undefined && random.chance(0.3)) {
			define(`${bare} = ${literal(other)}`);
			this.values[name] = value;
		} else {
			define(type);
			this.values[name] = value;
		}
		return name;
	}
}

/**
 * Whether two fields may share a key at one position. Slightly stricter than
 * Field Selection Merging (spec §5.3.2): they are the same field, or have the
 * same type and no object has both.
 */
function canShareKey(a: Selected, b: Omit<Selected, "key" | "below">): boolean {
	if (a.type !== b.type) return false;
	const isSame = a.name === b.name && a.args === b.args;
	const neverMeet = a.parent !== b.parent && a.isObject && b.isObject;
	return isSame || neverMeet;
}

/** A value of the type, for a default that is not used. */
function anotherOf(type: string): JsonValue | undefined {
	switch (type) {
		case "Int":
			return 3;
		case "Boolean":
			return true;
		case "ID":
			return "1";
		case "String":
			return "unused";
		case "[ID!]":
			return [];
		default:
			return undefined;
	}
}
