import { CorkboardError } from "../../src/errors.ts";

/** Much longer than a server waits for a silent client, and much shorter than its default. */
const LIMIT_MS = 20_000;

/** Repeats a write while it fails with UNAVAILABLE; fails after 20 seconds. Returns how long it took. */
export async function untilWritten(
	write: () => Promise<unknown>,
): Promise<number> {
	const began = performance.now();
	for (;;) {
		try {
			await write();
			const ms = performance.now() - began;
			if (ms <= LIMIT_MS) return ms;
			throw new Error(
				`expected the write within ${LIMIT_MS} ms but got: ${ms}`,
			);
		} catch (error) {
			const isUnavailable =
				error instanceof CorkboardError && error.code === "UNAVAILABLE";
			if (!isUnavailable || performance.now() - began > LIMIT_MS) throw error;
		}
	}
}
