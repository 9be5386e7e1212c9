import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until `look` answers true; fails with `expected` after `ms`. The limit is
 * there for what never happens: nothing that does happen takes nearly as long,
 * even on busy cores. Where the time itself is tested, see timing.ts.
 */
export async function until(
	expected: string,
	look: () => boolean | Promise<boolean>,
	ms = 120_000,
): Promise<void> {
	const deadline = performance.now() + ms;
	while (!(await look())) {
		if (performance.now() > deadline) {
			throw new Error(`expected ${expected} but got: not within ${ms} ms`);
		}
		await sleep(10);
	}
}
