import type { ServerResponse } from "node:http";
import { CorkboardError } from "../../errors.ts";

/** Aborted when the request takes longer than `ms`, or its client disconnects. */
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
				new CorkboardError("UNAVAILABLE", "The client disconnected."),
			);
		}
	});
	return controller.signal;
}
