import { listName } from "../../storage/keys.ts";

/**
 * Keys as processes publish them: `o ID` an object, `h MAPPING ID` a head,
 * `l NAME KEY` a lookup, `*` everything. A `!` before it says that the shared
 * cache did not acknowledge the delete.
 */
export interface PublishedKey {
	readonly kind: "o" | "h" | "l" | "*";
	readonly isUndeleted: boolean;
	/** As the caches in the process name it. */
	readonly name: string;
	/** Of an object its id, of a head that of its list. */
	readonly id: string;
}

export const EVERYTHING_KEY = "*";

const PUBLISHED = /^(!?)([ohl]) (.*)$/s;

export function objectKey(id: string, isUndeleted = false): string {
	return `${isUndeleted ? "!" : ""}o ${id}`;
}

export function headKey(name: string, isUndeleted = false): string {
	return `${isUndeleted ? "!" : ""}h ${name}`;
}

export function lookupKey(name: string): string {
	return `l ${name}`;
}

/** Null for what no process publishes. */
export function parsePublishedKey(key: string): PublishedKey | null {
	if (key === EVERYTHING_KEY) {
		return { kind: "*", isUndeleted: false, name: "", id: "" };
	}
	const [, mark, kind, name = ""] = PUBLISHED.exec(key) ?? [];
	if (kind === undefined) return null;
	const id = name.slice(name.lastIndexOf(" ") + 1);
	if (kind !== "l" && !DECIMAL.test(id)) return null;
	return {
		kind: kind as PublishedKey["kind"],
		isUndeleted: mark === "!",
		name,
		id,
	};
}

const DECIMAL = /^[0-9]{1,19}$/;

/**
 * What an outbox entry says that processes have to drop; everything, for a row
 * that cannot be read. Of an entry that a newer version wrote this part is read
 * all the same.
 */
export function publishedKeysOf(
	entry: Readonly<Record<string, unknown>> | null,
): readonly string[] {
	if (entry === null) return [EVERYTHING_KEY];
	const { invalidations = NO_INVALIDATIONS } = entry;
	if (!isInvalidations(invalidations)) return [EVERYTHING_KEY];
	return [
		...invalidations.objects.map((id) => objectKey(id)),
		...invalidations.lists.map(({ mapping, from }) =>
			headKey(listName({ name: mapping }, from)),
		),
	];
}

interface StoredInvalidations {
	readonly objects: readonly string[];
	readonly lists: readonly {
		readonly mapping: string;
		readonly from: string;
	}[];
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
