import { listen } from "../../diagnostics.ts";
import type { RecordedOperation } from "../../plan/explain/explainRecorder.ts";
import { type TokenBucket, takePoints } from "../../util/tokenBucket.ts";
import { SERVER_CHANNELS } from "../diagnostics.ts";
import type { createLog } from "../log.ts";
import { describeOperation, describeRequest } from "./describeRequest.ts";

/** So many at once, and then one a second: while a host stalls, every request is slow. */
const RATE = { points: 10, perMs: 10_000 };
/** After so long without another event, those that were left out are counted in one of their own. Milliseconds. */
const QUIET_MS = 5_000;

/** Logs requests that took at least this long, with what they did, until disposed. */
export function logSlowRequests(
	log: ReturnType<typeof createLog>,
	slowMs: number,
): Disposable {
	let bucket: TokenBucket | undefined;
	let leftOut = 0;
	let timer: NodeJS.Timeout | null = null;
	const reportLeftOut = () => {
		timer = null;
		if (leftOut === 0) return;
		log.warn({ leftOut }, "slow requests left out");
		leftOut = 0;
	};
	const listening = listen(SERVER_CHANNELS.request, (request) => {
		if (request.ms < slowMs) return;
		const taken = takePoints(RATE, bucket, 1, performance.now());
		bucket = taken.bucket;
		if (taken.waitMs > 0) {
			leftOut++;
			timer ??= setTimeout(reportLeftOut, QUIET_MS).unref();
			return;
		}
		const recorded = request.record?.operation?.recorded() as
			| RecordedOperation
			| undefined;
		log.warn(
			{
				...describeRequest(request),
				...(recorded && describeOperation(recorded)),
				...(leftOut > 0 && { leftOut }),
			},
			"slow request",
		);
		leftOut = 0;
	});
	return {
		[Symbol.dispose]() {
			listening[Symbol.dispose]();
			if (timer !== null) clearTimeout(timer);
			reportLeftOut();
		},
	};
}
