/**
 * Keys as strings: in maps, in caches, in invalidations and in cursors. Caches
 * of several processes share these spellings, so a change of one has to raise
 * the version in the cache's key prefix.
 */

type Named = { readonly name: string };

export function listName(mapping: Named, from: string): string {
	return `${mapping.name} ${from}`;
}

export function edgeName(
	mapping: Named,
	{ from, to }: { readonly from: string; readonly to: string },
): string {
	return `${mapping.name} ${from} ${to}`;
}

/** The name of a normalized natural key in a map. */
export function lookupName({
	name,
	key,
}: {
	readonly name: string;
	readonly key: string;
}): string {
	return `${name} ${key}`;
}

/** The key in a lookup's name. The name of the lookup itself has no space. */
export function keyOfName(name: string): string {
	return name.slice(name.indexOf(" ") + 1);
}

/** The name of an outbox entry in a map. */
export function entryName({
	shard,
	local,
}: {
	readonly shard: number;
	readonly local: number;
}): string {
	return `${shard} ${local}`;
}
