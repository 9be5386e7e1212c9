import cluster from "node:cluster";
import type { Config } from "../config/config.ts";
import { openMetrics } from "../metrics/metrics.ts";
import { openWorkersMetrics, shareWithPrimary } from "../metrics/workers.ts";
import { startAdminServer } from "../server/http/adminServer.ts";
import type { createLog } from "../server/log.ts";
import { keepRequests } from "../server/requests/keptRequests.ts";
import {
	answerPrimary,
	findInWorkers,
} from "../server/requests/requestsOfWorkers.ts";

/**
 * Counts what this process does, and serves that where the settings say so. In
 * a worker the primary serves it. Null without the setting: then nothing is counted.
 */
export async function openAdmin(
	{
		admin,
		metricsDocuments,
		slowMs,
	}: Pick<Config, "admin" | "metricsDocuments" | "slowMs">,
	log: ReturnType<typeof createLog>,
): Promise<AsyncDisposable | null> {
	if (admin === null) return null;
	await using opened = new AsyncDisposableStack();
	const { registry } = opened.use(openMetrics({ documents: metricsDocuments }));
	const requests = opened.use(keepRequests(slowMs));
	if (cluster.isWorker) {
		shareWithPrimary(registry);
		opened.use(answerPrimary(requests.find));
		return opened.move();
	}
	const { url } = opened.use(
		await startAdminServer(admin, {
			metrics: async () => ({
				contentType: registry.contentType,
				text: await registry.metrics(),
			}),
			findRequest: async (id) => requests.find(id),
		}),
	);
	log.info({ url: `${url}/metrics` }, "metrics served");
	return opened.move();
}

/** In the primary of several workers: serves what they count together. */
export async function openAdminOfWorkers({
	admin,
}: Pick<Config, "admin">): Promise<AsyncDisposable | null> {
	if (admin === null) return null;
	return startAdminServer(admin, {
		metrics: openWorkersMetrics(),
		findRequest: findInWorkers,
	});
}
