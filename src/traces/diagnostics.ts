import { channelOf } from "../diagnostics.ts";

export const TRACE_CHANNELS = {
	/** Spans of traces were not sent. */
	spansLost: channelOf<SpansLost>("corkboard.spansLost"),
};

interface SpansLost {
	readonly spans: number;
	readonly error: unknown;
}
