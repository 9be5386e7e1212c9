import { readDecisive } from "../../graph/store/readUncached.ts";
import type { Id } from "../../id/ids.ts";
import { isStoredNumber } from "../../storage/order.ts";
import type { Storage } from "../../storage/storage.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";

/** The content of an object's row; `absent` without a row, `not JSON` if it cannot be parsed. */
export type StoredContent = JsonObject | "absent" | "not JSON";

export async function readContents(
	storage: Storage,
	ids: Iterable<Id>,
): Promise<ReadonlyMap<Id, StoredContent>> {
	const unique = [...new Set(ids)];
	const texts = await readDecisive(storage, "objects", unique);
	return new Map(unique.map((id, at) => [id, parseContent(texts[at] ?? null)]));
}

export function parseContent(text: string | null): StoredContent {
	return text === null ? "absent" : (parseJsonObject(text) ?? "not JSON");
}

/** Whether the object is active: not deleted, pending or rejected. */
export function isActiveContent(content: StoredContent): content is JsonObject {
	return (
		typeof content === "object" &&
		content.active !== false &&
		content.state === undefined
	);
}

export function versionOf(data: JsonObject): number {
	return isStoredNumber(data.version) ? data.version : 0;
}

/** What is wrong with the object's state, as `its state is "odd"`; null if nothing is. */
export function stateProblem({ state, active }: JsonObject): string | null {
	if (state !== undefined && state !== "pending" && state !== "rejected") {
		return `its state is ${describeValue(state)}`;
	}
	return active === undefined || typeof active === "boolean"
		? null
		: `its active is ${describeValue(active)}`;
}

/** What is wrong with what the program keeps in the object beside its fields; null if nothing is. */
export function bookkeepingProblem({
	version,
	tokens,
	idempotency,
}: JsonObject): string | null {
	if (version !== undefined && !isStoredNumber(version)) {
		return `its version is ${describeValue(version)}`;
	}
	if (!isTokens(tokens)) return "its tokens are not texts by name";
	return isIdempotency(idempotency)
		? null
		: "its idempotency key is not a key and a token";
}

/** The content with everything valid that the program keeps in it, and a version. */
export function repairedBookkeeping(
	{ version, tokens, idempotency, ...fields }: JsonObject,
	leastVersion: number,
): JsonObject {
	const kept = isRecord(tokens)
		? Object.entries(tokens).filter(([, token]) => typeof token === "string")
		: [];
	return {
		...fields,
		...(kept.length > 0 && { tokens: Object.fromEntries(kept) }),
		...(idempotency !== undefined &&
			isIdempotency(idempotency) && { idempotency }),
		version: isStoredNumber(version) ? version : leastVersion,
	};
}

function isTokens(value: JsonValue | undefined): boolean {
	return (
		value === undefined ||
		(isRecord(value) &&
			Object.values(value).every((token) => typeof token === "string"))
	);
}

function isIdempotency(value: JsonValue | undefined): boolean {
	return (
		value === undefined ||
		value === null ||
		(isRecord(value) &&
			typeof value.key === "string" &&
			typeof value.token === "string")
	);
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Longest text of a value that a report repeats. */
const MAX_TEXT = 40;

/** A stored value as reports show it: never a long text, never the inside of a list or an object. */
export function describeValue(value: JsonValue | undefined): string {
	if (value === undefined) return "missing";
	if (Array.isArray(value)) return "a list";
	if (isRecord(value)) return "an object";
	if (typeof value === "string" && value.length > MAX_TEXT) {
		return `a text of ${value.length} characters`;
	}
	return JSON.stringify(value);
}
