import { AggregatorRegistry, type Registry } from "prom-client";

/** In a worker: the primary asks for this registry. */
export function shareWithPrimary(registry: Registry): void {
	AggregatorRegistry.setRegistries([registry]);
	// It begins to listen to the primary.
	new AggregatorRegistry();
}

/** In the primary: the metrics of all workers together, summed up where nothing else is said. */
export function openWorkersMetrics(): () => Promise<{
	readonly contentType: string;
	readonly text: string;
}> {
	const registry = new AggregatorRegistry();
	return async () => ({
		contentType: registry.contentType,
		text: await registry.clusterMetrics(),
	});
}
