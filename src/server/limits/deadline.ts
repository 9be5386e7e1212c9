import type { ServerResponse } from "node:http";
import { CorkboardError } from "../../errors.ts";
import { publishRefusal } from "../../plan/diagnostics.ts";
import type { OperationDeadline } from "../../util/deadline.ts";

/**
 * When a request's operation is aborted: when it takes longer than `ms`, or its
 * client disconnects. Nothing watches for either until someone asks for the
 * signal: what is answered from memory needs none.
 */
export class RequestDeadline implements OperationDeadline {
	readonly #response: ServerResponse;
	readonly #ms: number;
	readonly #startedAt: number;
	#signal: AbortSignal | null = null;

	/** `startedAt` is a time of `performance.now()`. */
	constructor(response: ServerResponse, ms: number, startedAt: number) {
		this.#response = response;
		this.#ms = ms;
		this.#startedAt = startedAt;
	}

	get isOver(): boolean {
		return (
			this.#response.destroyed ||
			performance.now() - this.#startedAt >= this.#ms
		);
	}

	get signal(): AbortSignal {
		this.#signal ??= this.#watch();
		return this.#signal;
	}

	#watch(): AbortSignal {
		const controller = new AbortController();
		const response = this.#response;
		const disconnect = () =>
			controller.abort(
				new CorkboardError("UNAVAILABLE", "The client disconnected."),
			);
		// What was started beside the answer and outlives it, for requests that join it.
		if (response.writableFinished) return controller.signal;
		if (response.destroyed) {
			disconnect();
			return controller.signal;
		}
		const ms = this.#ms;
		const timer = setTimeout(
			() => {
				publishRefusal("deadline");
				controller.abort(
					new CorkboardError(
						"UNAVAILABLE",
						`The request took longer than ${ms / 1000} s.`,
					),
				);
			},
			Math.max(0, this.#startedAt + ms - performance.now()),
		);
		response.once("close", () => {
			clearTimeout(timer);
			if (!response.writableFinished) disconnect();
		});
		return controller.signal;
	}
}
