const PATH = /^[A-Za-z0-9._:-]+(?:\/[A-Za-z0-9._:-]+)*$/;

/** Throws TypeError for what is no path of a topology store: paths are names of files and of ZooKeeper's nodes. */
export function checkPath(path: string): void {
	const isPath =
		PATH.test(path) &&
		path.split("/").every((name) => name !== "." && name !== "..");
	if (isPath) return;
	throw new TypeError(
		`expected names of letters, digits, ".", "_", ":" and "-", separated by "/", but got: ${path}`,
	);
}
