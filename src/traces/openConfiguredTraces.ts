import type { Traces, TracesOptions } from "./openTraces.ts";

/** Null without the settings: then nothing of OpenTelemetry is loaded. */
export async function openConfiguredTraces({
	traces,
}: {
	readonly traces: TracesOptions | null;
}): Promise<Traces | null> {
	if (traces === null) return null;
	const { openTraces } = await import("./openTraces.ts");
	return openTraces(traces);
}
