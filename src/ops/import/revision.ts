/**
 * What the lookup row of an import key says of its object, in its token: the
 * revision of the line that last wrote the object, and the object's version
 * after it. So an object whose version is another one was changed here since.
 *
 *     REV VERSION          written by a line with this `rev`
 *     CHANGING VERSION MARK  being changed: the object has this version, or the next
 *                            one with a content that has this mark
 *     ""                   created by a line without one, or by an import that was killed
 */
export interface Revision {
	/** Null if no line with a `rev` wrote the object. */
	readonly rev: string | null;
	readonly version: number;
	/** The hash of the content that an import was about to write; null: it was written. */
	readonly mark: string | null;
}

/** Marks a deleted object, instead of a `rev`, which has no dots. */
export const DELETED = "...deleted";

/** The same for an object that is being changed, and for one that was deleted and is being changed. */
const CHANGING = "...changing";
const REVIVING = "...reviving";

/** Whether the object was deleted by an import. */
export function wasDeleted({ rev }: Revision): boolean {
	return rev === DELETED || rev === REVIVING;
}

/** Says, before an object is changed, what it may be afterwards: an import that dies in between does not take its own change for that of another write. */
export function changingToken(before: Revision, mark: string): string {
	const rev = wasDeleted(before) ? REVIVING : CHANGING;
	return `${rev} ${before.version} ${mark}`;
}

/** An object's version when it was created. */
export const CREATED_VERSION = 1;

export function readToken(token: string): Revision {
	const [rev = "", version, mark = null] = token.split(" ");
	return token === ""
		? { rev: null, version: CREATED_VERSION, mark }
		: { rev, version: Number(version), mark };
}

export function tokenOf(rev: string, version: number): string {
	return `${rev} ${version}`;
}
