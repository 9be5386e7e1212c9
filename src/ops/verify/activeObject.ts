import type { Id } from "../../id/ids.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Damage } from "./damage.ts";
import { placeOfObject } from "./places.ts";
import type { Reader } from "./reader.ts";
import type { StoredContent } from "./storedContent.ts";

export interface ActiveObject {
	readonly id: Id;
	readonly data: JsonObject;
	/** What its references lead to, by key: those that are an id of an object of their type. */
	readonly references: ReadonlyMap<string, Id>;
}

/** What of a damage is the same for all damage of an object. */
export function damageOf(
	{ store: { model } }: Reader,
	id: Id,
	data: StoredContent,
): Pick<Damage, "subject" | "evidence" | "topics" | "table" | "row"> {
	return {
		subject: `object ${id}`,
		evidence: JSON.stringify(data),
		topics: [],
		...placeOfObject(model, id),
	};
}
