import {
	QUEUE_CHANNELS,
	type QueueRotation,
} from "../../src/queue/diagnostics.ts";
import { keepOf } from "../../src/queue/rotation.ts";
import { isRefused } from "../../src/queue/rotationStore.ts";
import { DEFAULT_SETTINGS } from "../../src/queue/settings.ts";
import { AT, openRotationWorld } from "../helpers/rotationWorld.ts";

/**
 * Rotates everything there is to rotate, and kills itself at a step:
 * `rotationChild.ts URL STEP HOURS`. The jobs to be kept in spans are given back
 * with them, as if they had come after the spans were looked at.
 */
const [url = "", step, hours] = process.argv.slice(2);
QUEUE_CHANNELS.queueRotation.subscribe((done: QueueRotation) => {
	if (done.kind === "step" && done.step === step && done.isDone) {
		process.kill(process.pid, "SIGKILL");
	}
});
await using world = await openRotationWorld(url);
const { store } = world;
const keep = keepOf(await store.now(0), DEFAULT_SETTINGS);

/** Until the session of the child before has ended on the server. */
async function insist<T extends object>(call: () => Promise<T>): Promise<T> {
	for (;;) {
		const outcome = await call();
		if (!isRefused(outcome)) return outcome;
	}
}

await insist(() => store.ahead(AT, Number(hours)));
const spans = await store.spans(AT, keep);
// What the process before has left.
for (const span of spans) {
	if (span.isSwappedOut) await insist(() => store.giveBack(AT, span, keep));
}
const [moved, given] = spans.filter(
	({ isEmpty, isSwappedOut }) => !isEmpty && !isSwappedOut,
);
if (moved === undefined || given === undefined) throw new Error("no spans");
await store.moveOn(AT, moved, keep, 500);
await insist(() => store.giveBack(AT, given, keep));
await insist(() => store.dropEmpty(AT));
