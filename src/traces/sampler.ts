import { ROOT_CONTEXT } from "@opentelemetry/api";
import { TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { RemoteParent } from "./traceparent.ts";

export interface SamplerOptions {
	/** The part of requests to sample if nobody has decided about them: 0 to 1. */
	readonly ratio: number;
	/** Whether a client's decision holds. */
	readonly followsParent: boolean;
}

type IsSampled = (parent: RemoteParent | null) => boolean;

const RECORD_AND_SAMPLED = 2;

/**
 * Decides about a request when it arrives. Of one without a parent nobody has
 * decided, and its trace id would be random: so a random number decides before
 * there is an id, and a request that is not sampled costs no more than that.
 */
export function createSampler({
	ratio,
	followsParent,
}: SamplerOptions): IsSampled {
	const byId = new TraceIdRatioBasedSampler(ratio);
	return (parent) => {
		if (parent === null) return Math.random() < ratio;
		if (followsParent) return parent.isSampled;
		const { decision } = byId.shouldSample(ROOT_CONTEXT, parent.traceId);
		return decision === RECORD_AND_SAMPLED;
	};
}
