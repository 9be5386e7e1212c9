import { valuesOrThrow } from "../../graph/store/unwrap.ts";
import type { Id } from "../../id/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";

/** An object as verify sees it: its content, or that it has no row, or that its text is not JSON. */
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
	if (text === null) return "absent";
	try {
		const data: unknown = JSON.parse(text);
		return typeof data === "object" && data !== null && !Array.isArray(data)
			? (data as JsonObject)
			: "not JSON";
	} catch {
		return "not JSON";
	}
}

/** Whether it has not been deleted, and neither waits for a name nor lost it. */
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
