import type { Config } from "../config/config.ts";
import type { Traces } from "../traces/openTraces.ts";

/** Null without the settings: then nothing of OpenTelemetry is loaded. */
export async function openConfiguredTraces({
	traces,
}: Pick<Config, "traces">): Promise<Traces | null> {
	if (traces === null) return null;
	const { openTraces } = await import("../traces/openTraces.ts");
	return openTraces(traces);
}
