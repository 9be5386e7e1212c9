import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { answerOf } from "./answerOf.ts";
import type { LoadRequest, LoadResult } from "./messages.ts";

const SENDER = join(import.meta.dirname, "sender.ts");
/** Beyond the time that the load takes by itself. */
const EXTRA_LIMIT_MS = 40_000;

/** The process that sends the load. One load at a time. */
export class Loader implements AsyncDisposable {
	readonly #child: ChildProcess;
	readonly #sets = new Map<string, readonly string[]>();

	constructor() {
		this.#child = fork(SENDER, { serialization: "advanced" });
	}

	get pid(): number {
		return this.#child.pid as number;
	}

	/** Requests under a known name go to the process once. */
	async send(
		load: LoadRequest & { readonly requests: readonly string[] },
	): Promise<LoadResult> {
		const { set, requests } = load;
		const isKnown = this.#sets.get(set) === requests;
		this.#sets.set(set, requests);
		this.#child.send({ ...load, requests: isKnown ? null : requests });
		const result = await answerOf(this.#child, load.ms + EXTRA_LIMIT_MS);
		return result as LoadResult;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#child.exitCode !== null) return;
		const ended = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await ended;
	}
}
