/** Of nobody, whom the modes of files bind. */
const NOBODY = 65_534;

/** Runs this as a user who may not write what others own. The superuser of a container may write everything. */
export async function asNobody<T>(body: () => Promise<T>): Promise<T> {
	const isRoot = process.geteuid?.() === 0;
	if (isRoot) process.seteuid?.(NOBODY);
	try {
		return await body();
	} finally {
		if (isRoot) process.seteuid?.(0);
	}
}
