import type { HealthChecks } from "../../src/server/http/health.ts";

/** For servers whose health is not under test. */
export const ALWAYS_READY: HealthChecks = {
	isReady: async () => true,
	report: async () => ({
		topologyVersion: 1,
		topologyStore: null,
		hosts: [],
		caches: [],
	}),
};
