import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { job } from "../../../src/queue/job.ts";

export const CLAIM_MS = 5_000;
/** Kills of workers cost attempts. */
const ATTEMPTS = 1_000;

/** The environment variable with the file that a worker process notes into. */
export const NOTES = "QUEUE_ATTACK_NOTES";

/** What a worker process notes, a line of JSON each; `at` in milliseconds of the machine's clock. */
export type Note =
	/** A handler begins; `end`: it has done its work; `stop`: it ended before. */
	| {
			readonly kind: "start" | "end" | "stop";
			readonly at: number;
			readonly n: number;
			readonly id: string;
			readonly attempt: number;
	  }
	/** The process is about to run the program. */
	| { readonly kind: "began"; readonly at: number }
	/** The event loop was paused from then on. */
	| { readonly kind: "stood"; readonly at: number; readonly from: number }
	| {
			readonly kind: "rotation";
			readonly at: number;
			readonly step: string;
			readonly isDone: boolean;
			readonly stallMs: number | null;
	  };

/** Lines of a process that is killed are kept: the kernel has them. */
function note(line: Note): void {
	const file = process.env[NOTES];
	if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

const body = z.object({
	n: z.int(),
	ms: z.int(),
	how: z.enum(["waits", "blocks", "fails"]),
});
export type TrialBody = z.infer<typeof body>;

/** Notes when it begins and ends, so that each start is known whatever becomes of its worker. */
export const trial = job({
	queue: "trial",
	body,
	attempts: ATTEMPTS,
	claimMs: CLAIM_MS,
	async run({ body: { n, ms, how }, id, attempt, signal }) {
		const say = (kind: "start" | "end" | "stop") =>
			note({ kind, at: Date.now(), n, id, attempt });
		say("start");
		try {
			if (how === "blocks" && attempt === 1) block(ms);
			else await sleep(ms, undefined, { signal });
			if (how === "fails" && attempt === 1) throw new Error("as its body says");
		} catch (error) {
			say("stop");
			throw error;
		}
		say("end");
	},
});

/** Keeps the event loop from turning, without using a core. */
function block(ms: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const LOOK_MS = 50;
const STOOD_MS = 250;

/** Notes when this process was paused, and what rotation does. */
export async function watchProcess(): Promise<void> {
	if (process.env[NOTES] === undefined) return;
	let last = Date.now();
	note({ kind: "began", at: last });
	setInterval(() => {
		const now = Date.now();
		if (now - last > STOOD_MS) note({ kind: "stood", at: now, from: last });
		last = now;
	}, LOOK_MS).unref();
	const { QUEUE_CHANNELS } = await import("../../../src/queue/diagnostics.ts");
	QUEUE_CHANNELS.queueRotation.subscribe((done) => {
		if (done.kind !== "step") return;
		const { step, isDone, stallMs } = done;
		note({ kind: "rotation", at: Date.now(), step, isDone, stallMs });
	});
}
