import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { Id } from "../../id/ids.ts";
import { LastInTurn } from "../../util/lastInTurn.ts";
import type { VisibilityFacts } from "../domain.ts";
import type { Node } from "../types.ts";

/** An object as requests read it. */
export interface ReadObject {
	readonly node: Node;
	/** Null if nobody may see it. */
	readonly facts: VisibilityFacts | null;
}

/**
 * An object as the process caches it: its stored text. Parsed, it takes three times
 * the memory and a microsecond, so only those that were read last are kept parsed.
 */
export class CachedObject extends CacheEntry {
	readonly #id: Id;
	readonly #text: string;
	/** Null for an object that does not exist. */
	readonly #parse: ((id: Id, text: string) => ReadObject) | null;
	#read: ReadObject | null;

	private constructor(
		id: Id,
		text: string,
		parse: ((id: Id, text: string) => ReadObject) | null,
		read: ReadObject | null,
	) {
		super(OBJECT_BYTES + bytesOf(text));
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
		const object = new CachedObject(id, text, parse, parse(id, text));
		PARSED.add(object);
		return object;
	}

	/** The same of text that was parsed before. */
	static unpacked(
		id: Id,
		text: string,
		parse: (id: Id, text: string) => ReadObject,
	): CachedObject {
		return new CachedObject(id, text, parse, null);
	}

	/** One that is cached nowhere. */
	static unstored(read: ReadObject): CachedObject {
		return new CachedObject(read.node.id, "", null, read);
	}

	/** That there is none. */
	static absent(id: Id): CachedObject {
		return new CachedObject(id, "", null, null);
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

	override packed(): string | null {
		return this.#parse === null ? null : this.#text;
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

/** Bytes that a text takes: V8 keeps a string in two bytes a character if one of them is not Latin-1. */
function bytesOf(text: string): number {
	return BEYOND_LATIN_1.test(text) ? text.length * 2 : text.length;
}

const BEYOND_LATIN_1 = /[\u0100-\uffff]/;
