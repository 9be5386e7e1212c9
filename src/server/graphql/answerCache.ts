import {
	CacheEntry,
	type EntryHome,
	type KeptCounts,
	newCounts,
} from "../../cache/cacheEntry.ts";
import type { LocalCacheLevel } from "../../cache/diagnostics.ts";
import type { KeptEntries } from "../../cache/keptEntries.ts";
import type { Id } from "../../id/ids.ts";
import type { SchemaUses } from "../../plan/diagnostics.ts";
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
/** What an answer takes beside its texts and its entry. */
const ANSWER_BYTES = 420;
/** How much shorter JSON of objects of one type gets, at least. */
const COMPRESSION = 3;
/** If the last answers to a request were one viewer's alone, one in so many is tried again, because what viewers may see changes. */
const TRIES = 16;
/** Requests. */
const DECIDES_EVERY = 1_024;
/** So few answers show whether more would serve. */
const LEAST_SHARE = 1 / 8;
/** The most of the memory that leaves at a time, so that it is evicted within a request. */
const MAX_STEP = 1 / 32;

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
	/** Null: no answer is kept. */
	readonly #kept: KeptEntries | null;
	readonly #entries = new Map<string, AnswerEntry>();
	readonly #counts: KeptCounts = newCounts();
	readonly #home: EntryHome = {
		entries: this.#entries,
		counts: this.#counts,
		hash: 0,
		versions: null,
		number: 0,
	};
	readonly #seen = new SeenTexts();
	/** Requests whose last answer was one viewer's alone. */
	readonly #personal = new SeenTexts();
	#tries = 0;
	#hits = 0;
	#misses = 0;
	/** How much of the memory answers may take. */
	#share = 1;
	/** Hits when the share was last decided. */
	#hitsBefore = 0;

	/** `kept`: the memory. Null: no answer is kept, and no request has a key. */
	constructor(kept: KeptEntries | null) {
		this.#kept = kept?.isNothing === true ? null : kept;
	}

	/**
	 * Null for a long request, and if no answers are kept. Nobody can send a
	 * request that has another viewer's key: the viewer comes first, and ends at the
	 * first space. No viewer's id is a word.
	 */
	keyOf(viewer: Id | null, isGet: boolean, text: string): AnswerKey | null {
		if (this.#kept === null || text.length > MAX_REQUEST) return null;
		const request = `${isGet ? "GET" : "POST"} ${text}`;
		return { viewer, request, own: `${viewer ?? "anonymous"} ${request}` };
	}

	/** The answer, if it is still valid. */
	get(key: AnswerKey, documents: Documents): KeptAnswer | null {
		const isFirst = key.hasEnded === undefined;
		const before = this.#entries.size;
		const shared = this.#find(key.request, documents);
		key.hasEnded = key.hasEnded === true || this.#entries.size < before;
		const kept =
			shared?.reuse.isFor?.(key.viewer) === true
				? shared
				: this.#find(key.own, documents);
		if (kept !== null) this.#hits++;
		else if (isFirst) this.#misses++;
		else return null;
		if ((this.#hits + this.#misses) % DECIDES_EVERY === 0) this.#decideShare();
		return kept;
	}

	/** All of the memory is earned by answers that serve half of the requests. */
	#decideShare(): void {
		const served = (this.#hits - this.#hitsBefore) / DECIDES_EVERY;
		this.#hitsBefore = this.#hits;
		const earned = Math.max(LEAST_SHARE, Math.min(1, 2 * served));
		const step = Math.max(-MAX_STEP, Math.min(MAX_STEP, earned - this.#share));
		this.#share += step;
		this.#kept?.limitTo(this.#share);
	}

	#find(key: string, documents: Documents): KeptAnswer | null {
		const entry = this.#entries.get(key);
		if (entry === undefined) return null;
		entry.wasRead = true;
		if (isTrue(entry.answer, documents)) return entry.answer;
		this.#kept?.drop(entry);
		return null;
	}

	/** What it holds, and how often it was asked since it was opened. */
	level(): Omit<LocalCacheLevel, "cache"> {
		return {
			hits: this.#hits,
			misses: this.#misses,
			refused: 0,
			evictions: this.#counts.evictions,
			entries: this.#entries.size,
			bytes: this.#counts.weight,
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
		const name = isPersonal ? key.own : key.request;
		const former = this.#entries.get(name);
		if (former !== undefined) this.#kept?.drop(former);
		const kept = {
			...answer,
			operationName: operationName && copyOf(operationName),
			body: keptBody(answer.body),
		};
		this.#kept?.add(this.#home, name, new AnswerEntry(kept, name));
	}
}

class AnswerEntry extends CacheEntry {
	readonly answer: KeptAnswer;

	constructor(answer: KeptAnswer, key: string) {
		super(bytesOf(answer, key));
		this.answer = answer;
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
	const compressed =
		length < COMPRESSED_BYTES ? 0 : Math.ceil(length / COMPRESSION);
	return ANSWER_BYTES + 2 * key.length + length + compressed + reuse.bytes;
}
