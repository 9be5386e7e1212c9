/** Runs test files one after another in this process, each as a suite with its path as title: `node group.ts FILE ...`. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { describe } from "node:test";

const require = createRequire(import.meta.url);
for (const file of process.argv.slice(2)) {
	// An import would be over only after the suite is: what it declares would not be in it.
	describe(file, () => {
		require(resolve(file));
	});
}
