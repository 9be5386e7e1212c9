/** Without what is absent: a list some of whose elements are there under a condition. */
export function compact<T>(
	all: readonly (T | false | null | undefined)[],
): T[] {
	return all.filter(
		(one): one is T => one !== false && one !== null && one !== undefined,
	);
}
