import type { ServerResponse } from "node:http";
import { CorkboardError } from "../../errors.ts";

/** Aborted when the request has taken `ms`, or its client has gone away. */
export function requestDeadline(
	response: ServerResponse,
	ms: number,
): AbortSignal {
	const controller = new AbortController();
	const timer = setTimeout(() => {
		controller.abort(
			new CorkboardError(
				"UNAVAILABLE",
				`The request took longer than ${ms / 1000} s.`,
			),
		);
	}, ms);
	response.once("close", () => {
		clearTimeout(timer);
		if (!response.writableFinished) {
			controller.abort(
				new CorkboardError("UNAVAILABLE", "The client went away."),
			);
		}
	});
	return controller.signal;
}

/**
 * The work's own outcome, if it comes within `graceMs` of the signal; else the
 * signal's reason. Work is told to stop by the signal and may then still answer
 * in part; the grace is for that. What comes later is dropped.
 */
export function withinDeadline<T>(
	work: Promise<T>,
	signal: AbortSignal,
	graceMs: number,
): Promise<T> {
	return new Promise<T>((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		const expire = () => {
			timer = setTimeout(() => reject(signal.reason), graceMs);
		};
		const settle = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", expire);
		};
		if (signal.aborted) expire();
		else signal.addEventListener("abort", expire, { once: true });
		work.then(resolve, reject).finally(settle);
	});
}
