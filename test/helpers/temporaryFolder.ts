import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of a test's own, gone when the test is. */
export function temporaryFolder(): Disposable & { readonly path: string } {
	const path = mkdtempSync(join(tmpdir(), "corkboard-test-"));
	return {
		path,
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}
