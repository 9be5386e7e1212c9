import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { Id } from "../../id/ids.ts";
import { LastInTurn } from "../../util/lastInTurn.ts";
import type { VisibilityFacts } from "../domain.ts";
import type { Node } from "../types.ts";
import { packJson } from "./packedJson.ts";

/** An object as requests read it. */
export interface ReadObject {
	readonly node: Node;
	/** Null if nobody may see it. */
	readonly facts: VisibilityFacts | null;
}

/**
 * An object as the process caches it: its stored text. Parsed, it takes three times
 * the memory and a microsecond, so only those that were read last are kept parsed.
 * One that was packed has no text.
 */
export class CachedObject extends CacheEntry {
	readonly #id: Id;
	readonly #text: string;
	/** Null for an object that does not exist, or that has no text. */
	readonly #parse: ((id: Id, text: string) => ReadObject) | null;
	#read: ReadObject | null;

	private constructor(
		id: Id,
		weight: number,
		text: string,
		parse: ((id: Id, text: string) => ReadObject) | null,
		read: ReadObject | null,
	) {
		super(weight);
		this.#id = id;
		this.#text = text;
		this.#parse = parse;
		this.#read = read;
	}

	/** One that a cache may keep. Throws what `parse` throws; later that has to return the same. */
	static stored(
		id: Id,
		text: string,
		parse: (id: Id, text: string) => ReadObject,
	): CachedObject {
		const weight = OBJECT_BYTES + bytesOf(text);
		const object = new CachedObject(id, weight, text, parse, parse(id, text));
		PARSED.add(object);
		return object;
	}

	/** The same that `pack` wrote. */
	static unpacked(read: ReadObject, bytes: number): CachedObject {
		const weight = OBJECT_BYTES + READ_BYTES + bytes;
		return new CachedObject(read.node.id, weight, "", null, read);
	}

	/** One that is cached nowhere. */
	static unstored(read: ReadObject): CachedObject {
		return new CachedObject(read.node.id, OBJECT_BYTES, "", null, read);
	}

	/** That there is none. */
	static absent(id: Id): CachedObject {
		return new CachedObject(id, OBJECT_BYTES, "", null, null);
	}

	/** Null for an object that does not exist. */
	get read(): ReadObject | null {
		return this.#read ?? this.#parsed();
	}

	get node(): Node | null {
		return this.read?.node ?? null;
	}

	get exists(): boolean {
		return this.#read !== null || this.#parse !== null;
	}

	override pack(into: Buffer): number {
		// It leaves the heap: it takes no place among those that are kept parsed.
		const read = this.#read ?? this.#parse?.(this.#id, this.#text);
		return read === undefined ? -1 : packJson(read.node.data, into);
	}

	#parsed(): ReadObject | null {
		if (this.#parse === null) return null;
		this.#read = this.#parse(this.#id, this.#text);
		PARSED.add(this);
		return this.#read;
	}

	static readonly letGo = (object: CachedObject): void => {
		object.#read = null;
	};
}

/** Parsed objects of all caches. What a request uses now is parsed once, as it holds what it read. */
const PARSED = new LastInTurn<CachedObject>(8_192, CachedObject.letGo);

/** Fields that only an object has, and of its text what is no letter. */
const OBJECT_BYTES = 64;
/** An object that was read, besides its texts: its fields, and what decides who may see it. */
const READ_BYTES = 480;

/** Bytes that a text takes: V8 keeps a string in two bytes a character if one of them is not Latin-1. */
function bytesOf(text: string): number {
	return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
