/**
 * What the lookup row of an import key says of its object, in its token: the
 * revision of the line that last wrote the object, and the object's version
 * after it. So an object whose version is another one was changed here since.
 *
 *     REV VERSION    written by a line with this `rev`
 *     ""             created by a line without one, or by an import that was killed
 */
export interface Revision {
	/** Null where no line with a `rev` wrote the object. */
	readonly rev: string | null;
	readonly version: number;
}

/** Stands for a deleted object in the place of a `rev`, which has no dots. */
export const DELETED = "...deleted";

/** An object's version when it was created. */
export const CREATED_VERSION = 1;

export function readToken(token: string): Revision {
	const [rev = "", version] = token.split(" ");
	return token === ""
		? { rev: null, version: CREATED_VERSION }
		: { rev, version: Number(version) };
}

export function tokenOf(rev: string, version: number): string {
	return `${rev} ${version}`;
}
