/** The values of some columns, as texts. */
export type Parts = readonly string[];

/** `likePin User:1 Pin:2` */
export function edgeKey(name: string, from: string, to: string): string {
	return `${name} ${from} ${to}`;
}

/** The type or the edge that a key begins with. */
export function nameOfKey(key: string): string {
	return /^[^ :]*/.exec(key)?.[0] ?? "";
}

/** The values of these columns in `Photo:8123`. */
export function partsOfKey(columns: readonly string[], key: string): Parts {
	const rest = key.slice(key.indexOf(":") + 1);
	return columns.length === 1 ? [rest] : rest.split(":");
}

/** Both ends of the key of an edge that leads to objects of this type; null for another text. */
export function endsOfKey(
	toType: string,
	key: string,
): readonly [from: string, to: string] | null {
	const ends = key.slice(nameOfKey(key).length + 1);
	const at = ends.indexOf(` ${toType}:`);
	return at === -1 ? null : [ends.slice(0, at), ends.slice(at + 1)];
}
