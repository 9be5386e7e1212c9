/**
 * Reads many keys group by group, such as those of one shard or one table, and
 * returns the results in the order of the keys, as `read` does for its own.
 */
export function readInGroups<Key, Group, A>(
	keys: readonly Key[],
	groupOf: (key: Key) => Group,
	read: (group: Group, keys: readonly Key[]) => readonly A[],
): readonly A[] {
	const results = new Array<A>(keys.length);
	const groups = Map.groupBy(keys.keys(), (index) =>
		groupOf(keys[index] as Key),
	);
	for (const [group, indexes] of groups) {
		const some = read(
			group,
			indexes.map((index) => keys[index] as Key),
		);
		indexes.forEach((index, at) => {
			results[index] = some[at] as A;
		});
	}
	return results;
}
