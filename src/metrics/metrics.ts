import { Registry } from "prom-client";
import { cacheMetrics } from "./cacheMetrics.ts";
import { changesMetrics } from "./changesMetrics.ts";
import { databaseMetrics } from "./databaseMetrics.ts";
import { dumpMetrics } from "./dumpMetrics.ts";
import { feedMetrics } from "./feedMetrics.ts";
import { invalidationMetrics } from "./invalidationMetrics.ts";
import { outboxMetrics } from "./outboxMetrics.ts";
import { processMetrics } from "./processMetrics.ts";
import { queueMetrics } from "./queueMetrics.ts";
import { type MetricsOptions, requestMetrics } from "./requestMetrics.ts";
import { rotationMetrics } from "./rotationMetrics.ts";
import { serverMetrics } from "./serverMetrics.ts";
import { standbyMetrics } from "./standbyMetrics.ts";
import { topologyMetrics } from "./topologyMetrics.ts";

/** What a process counts about itself, until disposed. */
export interface Metrics extends Disposable {
	readonly registry: Registry;
}

/**
 * Metrics of this process in the names and units of Prometheus, fed by the
 * diagnostics channels. docs/reference/metrics.md lists them.
 */
export function openMetrics(options: MetricsOptions): Metrics {
	const registry = new Registry();
	processMetrics(registry);
	dumpMetrics(registry);
	const feeds = [
		...requestMetrics(registry, options),
		...databaseMetrics(registry),
		...serverMetrics(registry),
		...cacheMetrics(registry),
		...invalidationMetrics(registry),
		...outboxMetrics(registry),
		...queueMetrics(registry),
		...rotationMetrics(registry),
		...standbyMetrics(registry),
		...(options.hasFeed === false ? [] : feedMetrics(registry)),
		...topologyMetrics(registry),
		...changesMetrics(registry),
	];
	return {
		registry,
		[Symbol.dispose]() {
			for (const feed of feeds) feed[Symbol.dispose]();
			registry.clear();
		},
	};
}
