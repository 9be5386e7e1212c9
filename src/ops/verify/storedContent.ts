import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Id } from "../../id/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject } from "../../util/json.ts";

/** The content of an object's row; `absent` without a row, `not JSON` where it cannot be parsed. */
export type StoredContent = JsonObject | "absent" | "not JSON";

export async function readContents(
	storage: Storage,
	ids: Iterable<Id>,
): Promise<ReadonlyMap<Id, StoredContent>> {
	const unique = [...new Set(ids)];
	const texts =
		unique.length > 0 ? valuesOrThrow(await storage.readObjects(unique)) : [];
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
	return typeof data.version === "number" ? data.version : 0;
}
