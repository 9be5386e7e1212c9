import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { VisibilityFacts } from "../domain.ts";
import type { Node } from "../types.ts";

/** An object as the process caches it. */
export class CachedObject extends CacheEntry {
	/** Null for an object that does not exist. */
	readonly node: Node | null;

	/** Null if nobody may see it. */
	readonly facts: VisibilityFacts | null;
	/** Of `VisibilityDecider`: the attempt in which `isVisible` was decided. */
	decidedIn = 0;
	isVisible = false;

	constructor(node: Node | null, facts: VisibilityFacts | null, text: string) {
		super(node === null ? 0 : NODE_BYTES + bytesOf(text));
		this.node = node;
		this.facts = facts;
	}
}

/** Of a node, and of the object that holds its fields. */
const NODE_BYTES = 376;

/** Bytes that stored text takes when it is parsed: V8 keeps a string in two bytes a character if one of them is not Latin-1. */
function bytesOf(text: string): number {
	return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
