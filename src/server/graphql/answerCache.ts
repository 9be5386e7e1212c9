import type { LocalCacheLevel } from "../../cache/diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import type { SchemaUses } from "../../plan/diagnostics.ts";
import { BoundedMap } from "../../util/boundedMap.ts";
import { fnv1a } from "../../util/fnv1a.ts";
import type { Documents } from "../documents/documents.ts";
import { COMPRESSED_BYTES } from "../http/compression.ts";
import { type Body, keptBody } from "./body.ts";
import type { Reuse } from "./operation.ts";

/** The response to one request, for one viewer, as long as it stays true. */
export interface KeptAnswer {
	readonly reuse: Reuse;
	/** That was admitted. */
	readonly cost: number;
	/** The state of the files when the document was found. */
	readonly revision: Documents["revision"];
	readonly sha256: string;
	/** Null for an operation without one. Not the operation: it would keep its whole document in memory. */
	readonly operationName: string | null;
	/** Not with the operation either. */
	readonly uses: SchemaUses | null;
	/** Whether the request has the document's text, and not only a name of it. */
	readonly hasText: boolean;
	/** Whether it was requested with a token, or differs between viewers. */
	readonly isPrivate: boolean;
	readonly body: Body;
}

/** Of one body; larger ones are few, and cost little beside their reads. */
const MAX_BODY = 262_144;
/** Of the part of a request that identifies it. */
const MAX_REQUEST = 4_096;
/** Of an entry, beside its texts. */
const ENTRY_BYTES = 600;
/** How much shorter JSON of objects of one type gets, at least. */
const COMPRESSION = 3;
/** Requests of which it is known that they came once. */
const SEEN = 65_536;

/**
 * Whole answers of queries, by viewer and request. An answer is used again if
 * everything that it was read from would be read again from the memory of this
 * process, unchanged (`Reuse.isValid`): it is as fresh as an answer that is
 * executed. What it cost is charged each time.
 *
 * Only answers to requests that came before are kept: to record what an
 * operation reads has a cost, and most requests do not come twice.
 */
export class AnswerCache {
	readonly #answers: BoundedMap<KeptAnswer>;
	readonly #seen = new Uint32Array(SEEN);
	readonly #isOff: boolean;
	#hits = 0;
	#misses = 0;

	/** With 0 bytes no answer is kept, and no request has a key. */
	constructor(maxBytes: number) {
		this.#isOff = maxBytes === 0;
		this.#answers = new BoundedMap({ maxWeight: maxBytes, weigh: bytesOf });
	}

	/**
	 * What identifies a request for one viewer: its body, or the URL of a GET, as it
	 * is. Null for a long one, and where no answers are kept. Nobody can send a request that has another viewer's
	 * key: the viewer comes first, and ends at the first space.
	 */
	keyOf(viewer: Id | null, isGet: boolean, request: string): string | null {
		if (this.#isOff || request.length > MAX_REQUEST) return null;
		return `${viewer ?? "anonymous"} ${isGet ? "GET" : "POST"} ${request}`;
	}

	/** The answer, if it is still valid. */
	get(key: string, documents: Documents): KeptAnswer | null {
		const kept = this.#answers.get(key);
		if (kept !== undefined) {
			if (isCurrent(kept, documents) && kept.reuse.isValid()) {
				this.#hits++;
				return kept;
			}
			this.#answers.delete(key);
		}
		this.#misses++;
		return null;
	}

	/** What it holds, and how often it was asked since it was opened. */
	level(): Omit<LocalCacheLevel, "cache"> {
		return {
			hits: this.#hits,
			misses: this.#misses,
			refused: 0,
			evictions: this.#answers.evictions,
			entries: this.#answers.size,
			bytes: this.#answers.weight,
		};
	}

	/** Whether to keep the answer that is about to be computed. */
	isWorthKeeping(key: string): boolean {
		const hash = fnv1a(key) >>> 0;
		const slot = hash % SEEN;
		if (this.#seen[slot] === hash) return true;
		this.#seen[slot] = hash;
		return false;
	}

	set(key: string, answer: KeptAnswer): void {
		if (answer.body.length > MAX_BODY) return;
		const { operationName } = answer;
		this.#answers.set(key, {
			...answer,
			operationName: operationName && copyOf(operationName),
			body: keptBody(answer.body),
		});
	}
}

/** Whether the request still names the document. */
function isCurrent(
	{ revision, sha256, hasText }: KeptAnswer,
	documents: Documents,
): boolean {
	if (revision !== documents.revision) return false;
	return hasText || documents.runnable(sha256) !== null;
}

/** Cut from the text of a document, which V8 keeps for as long as the part. */
function copyOf(name: string): string {
	return Buffer.from(name).toString();
}

/** A compressed form is counted before it exists, and a character of the key as two bytes. */
function bytesOf({ body: { length }, reuse }: KeptAnswer, key: string): number {
	const compressed = length < COMPRESSED_BYTES ? 0 : length / COMPRESSION;
	return ENTRY_BYTES + 2 * key.length + length + compressed + reuse.bytes;
}
