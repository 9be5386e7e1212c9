import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { job } from "../../src/queue/job.ts";
import { busyFor } from "../helpers/busy.ts";

/** What a worker process reports of its jobs. */
export interface Report {
	readonly kind: "started" | "ended" | "aborted";
	readonly n: number;
	readonly attempt: number;
	readonly pid: number;
	/** Milliseconds since 1970. */
	readonly at: number;
}

/** A job whose first attempt waits, or keeps the event loop busy, for so long. */
export const trial = job({
	queue: "trial",
	body: z.object({
		n: z.number(),
		ms: z.number(),
		how: z.enum(["waits", "blocks", "blocksAtAbort"]).default("waits"),
	}),
	attempts: 20,
	claimMs: 4_000,
	async run({ body: { n, ms, how }, attempt, signal }, report: Reporting) {
		const say = (kind: Report["kind"]) =>
			report({ kind, n, attempt, pid: process.pid, at: Date.now() });
		say("started");
		signal.addEventListener("abort", () => say("aborted"));
		if (how === "blocksAtAbort") {
			signal.addEventListener("abort", () => busyFor(ms));
		}
		if (attempt === 1 && how === "blocks") busyFor(ms);
		else if (attempt === 1) await sleep(ms, undefined, { signal });
		say("ended");
	},
});

export type Reporting = (report: Report) => void;
