import { listName, lookupName } from "../storage/keys.ts";
import { channelOfId, channelOfLookup } from "./channels.ts";

/** The head of a list, by the name of its mapping and the id of its owner. */
export interface ListId {
	readonly mapping: string;
	readonly from: string;
}

/** What a process is asked to drop: an object, the head of a list, a lookup, or everything. */
export type Published =
	| { readonly kind: "o"; readonly id: string; readonly isUndeleted: boolean }
	| { readonly kind: "h"; readonly list: ListId; readonly isUndeleted: boolean }
	/** By `lookupName`. */
	| { readonly kind: "l"; readonly name: string }
	| { readonly kind: "*" };

/*
 * Keys as processes publish them: `o ID` an object, `h MAPPING ID` a head,
 * `l NAME KEY` a lookup, `*` everything. A `!` before it says that the shared
 * cache did not acknowledge the delete. Only this file writes and reads them.
 */

const EVERYTHING_KEY = "*";

export function objectKey(id: string, isUndeleted = false): string {
	return `${isUndeleted ? "!" : ""}o ${id}`;
}

export function headKey(
	{ mapping, from }: ListId,
	isUndeleted = false,
): string {
	return `${isUndeleted ? "!" : ""}h ${listName({ name: mapping }, from)}`;
}

export function lookupKey(key: Parameters<typeof lookupName>[0]): string {
	return `l ${lookupName(key)}`;
}

const PUBLISHED =
	/^(?<mark>!?)(?:o (?<id>[0-9]{1,19})|h (?<mapping>.+) (?<from>[0-9]{1,19})|l (?<name>.*))$/s;

/** Null for what no process publishes. */
export function parsePublishedKey(key: string): Published | null {
	if (key === EVERYTHING_KEY) return { kind: "*" };
	const { mark, id, mapping, from, name } = PUBLISHED.exec(key)?.groups ?? {};
	const isUndeleted = mark === "!";
	if (id !== undefined) return { kind: "o", id, isUndeleted };
	if (mapping !== undefined && from !== undefined) {
		return { kind: "h", list: { mapping, from }, isUndeleted };
	}
	return name === undefined ? null : { kind: "l", name };
}

/** Null for what belongs to every channel. */
export function channelOfKey(key: string): number | null {
	const published = parsePublishedKey(key);
	if (published === null || published.kind === "*") return null;
	if (published.kind === "l") return channelOfLookup(published.name);
	return channelOfId(
		published.kind === "o" ? published.id : published.list.from,
	);
}

/**
 * What an outbox entry says that processes have to drop; everything, for a row
 * that cannot be read. Of an entry that a newer version wrote this part is read
 * all the same.
 */
export function publishedKeysOf(
	entry: Readonly<Record<string, unknown>> | null,
	/** Whether the shared cache of objects, and that of heads, may not have deleted them. */
	undeleted = { objects: false, lists: false },
): readonly string[] {
	if (entry === null) return [EVERYTHING_KEY];
	const { invalidations = NO_INVALIDATIONS } = entry;
	if (!isInvalidations(invalidations)) return [EVERYTHING_KEY];
	return [
		...invalidations.objects.map((id) => objectKey(id, undeleted.objects)),
		...invalidations.lists.map((list) => headKey(list, undeleted.lists)),
	];
}

interface StoredInvalidations {
	readonly objects: readonly string[];
	readonly lists: readonly ListId[];
}

const NO_INVALIDATIONS: StoredInvalidations = { objects: [], lists: [] };

function isInvalidations(value: unknown): value is StoredInvalidations {
	if (typeof value !== "object" || value === null) return false;
	const { objects, lists } = value as Partial<StoredInvalidations>;
	return (
		Array.isArray(objects) &&
		objects.every((id) => typeof id === "string") &&
		Array.isArray(lists) &&
		lists.every(
			(list) =>
				typeof list?.mapping === "string" && typeof list.from === "string",
		)
	);
}
