/**
 * Reads many keys a group at a time (a shard, a table), and puts the answers
 * back in the order of the keys. `read` answers its keys in their order.
 */
export function readInGroups<Key, Group, A>(
	keys: readonly Key[],
	groupOf: (key: Key) => Group,
	read: (group: Group, keys: readonly Key[]) => readonly A[],
): readonly A[] {
	const answers = new Array<A>(keys.length);
	const groups = Map.groupBy(keys.keys(), (index) =>
		groupOf(keys[index] as Key),
	);
	for (const [group, indexes] of groups) {
		const some = read(
			group,
			indexes.map((index) => keys[index] as Key),
		);
		indexes.forEach((index, at) => {
			answers[index] = some[at] as A;
		});
	}
	return answers;
}
