import type { Random } from "../../src/demo/random.ts";
import type { JsonValue } from "../../src/util/json.ts";
import { literal } from "./literal.ts";

/** Where in the answer a selection set stands. */
export interface Place {
	/** The response keys that lead to it. Selection sets of one path are merged. */
	readonly path: string;
	/** The most objects that stand here: what keeps an operation cheap. */
	readonly many: number;
	/** Objects of the graph above this one. */
	readonly depth: number;
	/** The one object that stands here, where it is known. */
	readonly owner: string | null;
	/** Of a connection: the size of its pages. */
	readonly size: number;
	/** Inside a fragment on an interface: the type of the objects it was spread on. */
	readonly concrete: string | null;
}

/** A field as it was selected at a place, for others that would share its key. */
export interface Selected {
	readonly key: string;
	/** The type it was selected of, and whether that is an object type. */
	readonly parent: string;
	readonly isObject: boolean;
	readonly name: string;
	/** `(first: 3)`, or nothing. */
	readonly args: string;
	/** The type of the field. */
	readonly type: string;
	/** Where its own selections stand. */
	readonly below: Place;
}

interface Variable {
	readonly type: string;
	readonly definition: string;
}

/** Keys that are ordinary names in GraphQL and trouble in JavaScript. */
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

/** How often a variable is such that it makes an error on purpose. */
const TROUBLE = 0.007;

/** An operation in the making: its variables, its fragments, and which keys are taken where. */
export class Draft {
	readonly random: Random;
	/** As a client would send them. */
	readonly values: Record<string, unknown> = {};
	readonly fragments: string[] = [];
	/** Names of fragments that may be spread anywhere their type fits, by type. */
	readonly portable = new Map<string, string[]>();
	/** How many edges the operation may still read, and how many selections it may still have: about. */
	budget: number;
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

	/** `($v1: Int = 3)`, or nothing. */
	get definitions(): string {
		const all = [...this.#variables].map(
			([name, { definition }]) => `$${name}: ${definition}`,
		);
		return all.length === 0 ? "" : `(${all.join(", ")})`;
	}

	/** Variables of a type that may be sent anew without a field becoming more expensive. */
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
	 * A value in a position of this type: a literal, or a variable that comes to
	 * the same. `undefined` is no value at all; what cannot be spelled is null.
	 */
	value(type: string, value: JsonValue | undefined): string | null {
		if (this.random.chance(0.4)) return `$${this.#declare(type, value)}`;
		return value === undefined ? null : literal(value);
	}

	/** A key that nothing else at this place has, or that merges with what has it. */
	key(place: Place, field: Omit<Selected, "key" | "below">): string {
		const { random } = this;
		const candidates = [
			...(random.chance(0.2) ? [random.pick(ODD_KEYS)] : []),
			...(random.chance(0.2) ? [random.pick(ODD_KEYS)] : []),
			field.name,
		];
		for (const key of candidates) {
			const rivals = this.#at(place).filter((other) => other.key === key);
			if (rivals.every((rival) => canShareKey(rival, field))) return key;
		}
		return this.name(`${field.name}_`);
	}

	select(place: Place, selected: Selected): void {
		this.#at(place).push(selected);
	}

	/** Fields selected of this type at this place before. */
	selected(place: Place, parent: string): readonly Selected[] {
		return this.#at(place).filter((field) => field.parent === parent);
	}

	#at({ path }: Place): Selected[] {
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
		if (random.chance(bare === "Boolean" ? 3 * TROUBLE : TROUBLE)) {
			// Refused when the variables are coerced, or only where it is used.
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
 * Whether two fields may have one key at one place (spec §5.3.2, "Field
 * Selection Merging"), a little stricter: they are the same field, or no object
 * has both and their types are the same.
 */
function canShareKey(a: Selected, b: Omit<Selected, "key" | "below">): boolean {
	if (a.type !== b.type) return false;
	const isSame = a.name === b.name && a.args === b.args;
	const neverMeet = a.parent !== b.parent && a.isObject && b.isObject;
	return isSame || neverMeet;
}

/** Some value of the type, for a default that is not used. */
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
