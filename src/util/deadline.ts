import { CorkboardError } from "../errors.ts";

/** The promise, or UNAVAILABLE once `ms` have passed. What the promise does afterwards is nobody's any more; its rejection is swallowed. */
export async function withDeadline<T>(
	promise: Promise<T>,
	ms: number,
): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const deadline = new Promise<never>((_, reject) => {
		timer = setTimeout(
			() =>
				reject(
					new CorkboardError("UNAVAILABLE", "It took too long.", {
						details: { ms },
					}),
				),
			ms,
		);
	});
	promise.catch(() => {});
	try {
		return await Promise.race([promise, deadline]);
	} finally {
		clearTimeout(timer);
	}
}
