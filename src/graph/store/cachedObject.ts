import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { VisibilityFacts } from "../domain.ts";
import type { Node } from "../types.ts";
import { packJson } from "./packedJson.ts";

/** An object as requests read it. */
export interface ReadObject {
	readonly node: Node;
	/** Null if nobody may see it. */
	readonly facts: VisibilityFacts | null;
}

/** An object as the process caches it. */
export class CachedObject extends CacheEntry {
	/** Null for an object that does not exist. */
	readonly read: ReadObject | null;

	private constructor(bytes: number, read: ReadObject | null) {
		super(OBJECT_BYTES + bytes);
		this.read = read;
	}

	/** Read from its stored text. */
	static stored(read: ReadObject, text: string): CachedObject {
		return new CachedObject(bytesOf(text), read);
	}

	/** The same that `pack` wrote. */
	static unpacked(read: ReadObject, bytes: number): CachedObject {
		return new CachedObject(bytes, read);
	}

	/** One that is cached nowhere. */
	static unstored(read: ReadObject): CachedObject {
		return new CachedObject(0, read);
	}

	/** That there is none. */
	static absent(): CachedObject {
		return new CachedObject(0, null);
	}

	get node(): Node | null {
		return this.read?.node ?? null;
	}

	get exists(): boolean {
		return this.read !== null;
	}

	override pack(into: Buffer): number {
		return this.read === null ? -1 : packJson(this.read.node.data, into);
	}
}

/** An object besides its texts: its fields, and what decides who may see it. */
const OBJECT_BYTES = 544;

/** Bytes that a text takes: V8 keeps a string in two bytes a character if one of them is not Latin-1. */
function bytesOf(text: string): number {
	return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
