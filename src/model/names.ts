import type { ASTNode } from "graphql";
import { MAX_TYPE } from "../id/ids.ts";
import type { Problems } from "./problems.ts";
import {
	RESERVED_KEYS,
	RESERVED_LOOKUPS,
	RESERVED_TABLES,
} from "./reservedNames.ts";

// Letters, digits and _ only: these names stand in SQL, in keys of caches and
// in stored JSON. Tables stay short of MySQL's 64 characters, so that storage
// can derive names of its own from them.
const TABLE = /^(?!sqlite_)[a-z][a-z0-9_]{0,47}$/;
const MAPPING = /^[a-z][A-Za-z0-9]{0,47}(\.inverse)?$/;
const LOOKUP = /^[a-z][A-Za-z0-9]{0,47}$/;
const KEY = /^[a-z][A-Za-z0-9_]{0,63}$/;

const isReservedKey = reservation(RESERVED_KEYS);
const isReservedLookup = reservation(Object.values(RESERVED_LOOKUPS));
const isReservedTable = reservation(RESERVED_TABLES);

/** What of the model is named, and must be named once. */
export class Names {
	readonly #problems: Problems;
	/** Who has it, by where, kind and name. */
	readonly #taken = new Map<string, string>();

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
		this.#take("type number", String(number), owner, node);
	}

	table(name: string, owner: string, node: ASTNode): void {
		this.#spelled(TABLE, "table", name, owner, node);
		if (isReservedTable(name)) {
			this.#problems.add(
				node,
				`the table ${name} of ${owner} is reserved: choose another name`,
			);
		}
		this.#take("table", name, owner, node);
	}

	mapping(name: string, owner: string, node: ASTNode): void {
		this.#spelled(MAPPING, "mapping", name, owner, node);
		this.#take("mapping", name, owner, node);
	}

	lookup(name: string, owner: string, node: ASTNode): void {
		this.#spelled(LOOKUP, "lookup", name, owner, node);
		if (isReservedLookup(name)) {
			this.#problems.add(
				node,
				`the lookup ${name} of ${owner} is reserved: choose another name`,
			);
		}
		this.#take("lookup", name, owner, node);
	}

	/** A key in the stored JSON of the type. */
	key(name: string, type: string, owner: string, node: ASTNode): void {
		this.#spelled(KEY, "key", name, owner, node);
		// `toString`, `constructor` and the like seem present in every object.
		if (isReservedKey(name) || name in {}) {
			this.#problems.add(
				node,
				`the key ${name} of ${owner} is reserved: name another with @stored(key:) or @reference(key:)`,
			);
		}
		this.#take("key", name, owner, node, type);
	}

	#spelled(
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

	/** `within` is where the name must be the only one: the whole model if not given. */
	#take(
		kind: string,
		name: string,
		owner: string,
		node: ASTNode,
		within = "",
	): void {
		const place = `${within} ${kind} ${name}`;
		const holder = this.#taken.get(place);
		if (holder === undefined) {
			this.#taken.set(place, owner);
			return;
		}
		this.#problems.add(
			node,
			`the ${kind} ${name} of ${owner} is already that of ${holder}`,
		);
	}
}

function reservation(names: readonly string[]): (name: string) => boolean {
	const reserved = new Set(names);
	return (name) => reserved.has(name);
}
