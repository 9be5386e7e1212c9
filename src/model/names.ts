import type { ASTNode } from "graphql";
import { MAX_TYPE } from "../id/ids.ts";
import type { Problems } from "./problems.ts";
import {
	RESERVED_KEYS,
	RESERVED_LOOKUPS,
	RESERVED_TABLES,
} from "./reservedNames.ts";

// Letters, digits and _ only: these names appear in SQL, in cache keys and in
// stored JSON. Tables are shorter than MySQL's limit of 64 characters, so that
// storage can derive names from them.
const TABLE = /^(?!sqlite_)[a-z][a-z0-9_]{0,47}$/;
const MAPPING = /^[a-z][A-Za-z0-9]{0,47}(\.inverse)?$/;
const LOOKUP = /^[a-z][A-Za-z0-9]{0,47}$/;
const KEY = /^[a-z][A-Za-z0-9_]{0,63}$/;

const isReservedKey = reservation(RESERVED_KEYS);
const isReservedLookup = reservation(Object.values(RESERVED_LOOKUPS));
const isReservedTable = reservation(RESERVED_TABLES);

/** Checks the names of the model: spelling, reservation, uniqueness. */
export class Names {
	readonly #problems: Problems;
	/** The owner of each name, by scope, kind and name. */
	readonly #owners = new Map<string, string>();

	constructor(problems: Problems) {
		this.#problems = problems;
	}

	typeNumber(number: number, owner: string, node: ASTNode): void {
		if (number < 1 || number > MAX_TYPE) {
			this.#problems.add(
				node,
				`the type number of ${owner} must be from 1 to ${MAX_TYPE}, got ${number}`,
			);
		}
		this.#claimName("type number", String(number), owner, node);
	}

	table(name: string, owner: string, node: ASTNode): void {
		this.#checkSpelling(TABLE, "table", name, owner, node);
		if (isReservedTable(name)) {
			this.#problems.add(
				node,
				`the table ${name} of ${owner} is reserved: choose another name`,
			);
		}
		this.#claimName("table", name, owner, node);
	}

	mapping(name: string, owner: string, node: ASTNode): void {
		this.#checkSpelling(MAPPING, "mapping", name, owner, node);
		this.#claimName("mapping", name, owner, node);
	}

	lookup(name: string, owner: string, node: ASTNode): void {
		this.#checkSpelling(LOOKUP, "lookup", name, owner, node);
		if (isReservedLookup(name)) {
			this.#problems.add(
				node,
				`the lookup ${name} of ${owner} is reserved: choose another name`,
			);
		}
		this.#claimName("lookup", name, owner, node);
	}

	/** A key in the stored JSON of the type. */
	key(name: string, type: string, owner: string, node: ASTNode): void {
		this.#checkSpelling(KEY, "key", name, owner, node);
		// `toString`, `constructor` and others appear to be keys of every object.
		if (isReservedKey(name) || name in {}) {
			this.#problems.add(
				node,
				`the key ${name} of ${owner} is reserved: choose another with @stored(key:) or @reference(key:)`,
			);
		}
		this.#claimName("key", name, owner, node, type);
	}

	#checkSpelling(
		pattern: RegExp,
		kind: string,
		name: string,
		owner: string,
		node: ASTNode,
	): void {
		if (pattern.test(name)) return;
		this.#problems.add(
			node,
			`the ${kind} of ${owner} must match ${pattern.source}, got ${JSON.stringify(name)}`,
		);
	}

	/** `scope` is where the name must be unique: the whole model if it is empty. */
	#claimName(
		kind: string,
		name: string,
		owner: string,
		node: ASTNode,
		scope = "",
	): void {
		const unique = `${scope} ${kind} ${name}`;
		const other = this.#owners.get(unique);
		if (other === undefined) {
			this.#owners.set(unique, owner);
			return;
		}
		this.#problems.add(
			node,
			`the ${kind} ${name} of ${owner} is already that of ${other}`,
		);
	}
}

function reservation(names: readonly string[]): (name: string) => boolean {
	const reserved = new Set(names);
	return (name) => reserved.has(name);
}
