import type { LocalCacheLevel } from "../../cache/diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import type { SchemaUses } from "../../plan/diagnostics.ts";
import { BoundedMap } from "../../util/boundedMap.ts";
import { SeenTexts } from "../../util/seenTexts.ts";
import type { Documents } from "../documents/documents.ts";
import { COMPRESSED_BYTES } from "../http/content/compression.ts";
import { type Body, keptBody } from "./body.ts";
import type { Reuse } from "./operation.ts";

/** What identifies a request. */
export interface AnswerKey {
	readonly viewer: Id | null;
	/** The request, the same for all viewers who send it: its body, or the URL of a GET. */
	readonly request: string;
	/** The same with the viewer. */
	readonly own: string;
	/** Whether an answer was kept for all viewers until something changed. */
	hasEnded?: boolean;
}

/** The response to one request, as long as it stays true. */
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
	/** Whether the operation is one whose response differs between viewers. */
	readonly dependsOnViewer: boolean;
	readonly body: Body;
}

/** The largest body kept; larger ones are few, and cost little beside their reads. */
const MAX_BODY = 262_144;
/** The longest part of a request that identifies it. */
const MAX_REQUEST = 4_096;
/** What an entry takes beside its texts. */
const ENTRY_BYTES = 600;
/** How much shorter JSON of objects of one type gets, at least. */
const COMPRESSION = 3;
/** If the last answers to a request were one viewer's alone, one in so many is tried again: who may see what changes. */
const TRIES = 16;

/**
 * Whole answers of queries, by request, or by viewer and request. An answer is
 * used again while the process might keep everything that it was read from, and
 * nothing of it has changed (`Reuse.isValid`): it is as fresh as an answer that is
 * executed. What it cost is charged each time.
 *
 * Viewers share an answer if none of them would get another one (`Reuse.isFor`).
 *
 * Only answers to requests that came before are kept: to record what an
 * operation reads has a cost, and most requests do not come twice.
 */
export class AnswerCache {
	readonly #answers: BoundedMap<KeptAnswer>;
	readonly #seen = new SeenTexts();
	/** Requests whose last answer was one viewer's alone. */
	readonly #personal = new SeenTexts();
	#tries = 0;
	readonly #isOff: boolean;
	#hits = 0;
	#misses = 0;

	/** With 0 bytes no answer is kept, and no request has a key. */
	constructor(maxBytes: number) {
		this.#isOff = maxBytes === 0;
		this.#answers = new BoundedMap({ maxWeight: maxBytes, weigh: bytesOf });
	}

	/**
	 * Null for a long request, and where no answers are kept. Nobody can send a
	 * request that has another viewer's key: the viewer comes first, and ends at the
	 * first space. No viewer's id is a word.
	 */
	keyOf(viewer: Id | null, isGet: boolean, text: string): AnswerKey | null {
		if (this.#isOff || text.length > MAX_REQUEST) return null;
		const request = `${isGet ? "GET" : "POST"} ${text}`;
		return { viewer, request, own: `${viewer ?? "anonymous"} ${request}` };
	}

	/** The answer, if it is still valid. */
	get(key: AnswerKey, documents: Documents): KeptAnswer | null {
		const isFirst = key.hasEnded === undefined;
		const before = this.#answers.size;
		const shared = this.#find(key.request, documents);
		key.hasEnded = key.hasEnded === true || this.#answers.size < before;
		const kept =
			shared?.reuse.isFor?.(key.viewer) === true
				? shared
				: this.#find(key.own, documents);
		if (kept !== null) this.#hits++;
		else if (isFirst) this.#misses++;
		return kept;
	}

	#find(key: string, documents: Documents): KeptAnswer | null {
		const kept = this.#answers.get(key);
		if (kept === undefined) return null;
		if (isTrue(kept, documents)) return kept;
		this.#answers.delete(key);
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
	isWorthKeeping({ request, own }: AnswerKey): boolean {
		const isRepeated = this.#seen.add(request);
		if (this.#seen.add(own)) return true;
		return isRepeated && this.#isWorthSharing(request);
	}

	#isWorthSharing(request: string): boolean {
		if (!this.#personal.has(request)) return true;
		this.#tries = (this.#tries + 1) % TRIES;
		if (this.#tries > 0) return false;
		// Until the next answer that is one viewer's alone.
		this.#personal.delete(request);
		return true;
	}

	set(key: AnswerKey, answer: KeptAnswer): void {
		if (answer.body.length > MAX_BODY) return;
		const { operationName, reuse } = answer;
		const isPersonal = reuse.isFor === null;
		if (isPersonal) this.#personal.add(key.request);
		this.#answers.set(isPersonal ? key.own : key.request, {
			...answer,
			operationName: operationName && copyOf(operationName),
			body: keptBody(answer.body),
		});
	}
}

/** Whether the answer is still the viewer's. */
export function isUsable(
	kept: KeptAnswer,
	viewer: Id | null,
	documents: Documents,
): boolean {
	return isTrue(kept, documents) && kept.reuse.isFor?.(viewer) !== false;
}

/** Whether the request still names the document, and reads the same. */
function isTrue(
	{ revision, sha256, hasText, reuse }: KeptAnswer,
	documents: Documents,
): boolean {
	if (revision !== documents.revision) return false;
	return (hasText || documents.runnable(sha256) !== null) && reuse.isValid();
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
