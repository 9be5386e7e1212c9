import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until `look` answers true; fails with `expected` after `ms`. The limit is
 * there for what never happens: nothing that does happen takes nearly as long,
 * even on busy cores. If the time itself is tested, see timing.ts.
 * What takes long is looked at less and less often: a look costs the others their cores.
 */
export async function until(
	expected: string,
	look: () => boolean | Promise<boolean>,
	ms = 120_000,
): Promise<void> {
	const began = performance.now();
	while (!(await look())) {
		const waited = performance.now() - began;
		if (waited > ms) {
			throw new Error(`expected ${expected} but got: not within ${ms} ms`);
		}
		await sleep(Math.min(Math.max(10, waited / 20), 250));
	}
}
