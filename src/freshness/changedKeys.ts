import type { Id } from "../id/ids.ts";
import type { ListKey } from "../storage/rows.ts";
import { headKey, type ListId, objectKey } from "./publishedKeys.ts";

/** What a write changed. */
export interface ChangedKeys {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListKey[];
}

/** The same with the lists as caches and processes name them. */
export interface ChangedNames {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListId[];
}

export function namesOf({ objects, lists }: ChangedKeys): ChangedNames {
	return {
		...(objects && { objects }),
		...(lists && {
			lists: lists.map(({ mapping, from }) => ({
				mapping: mapping.name,
				from,
			})),
		}),
	};
}

/** Whether the cache of objects and the cache of heads acknowledged. */
export interface Acknowledged {
	readonly objects: boolean;
	readonly lists: boolean;
}

export const ACKNOWLEDGED: Acknowledged = { objects: true, lists: true };
export const UNACKNOWLEDGED: Acknowledged = { objects: false, lists: false };

export function publishedKeys(
	{ objects = [], lists = [] }: ChangedNames,
	acknowledged: Acknowledged,
): string[] {
	return [
		...objects.map((id) => objectKey(id, !acknowledged.objects)),
		...lists.map((list) => headKey(list, !acknowledged.lists)),
	];
}
