import cluster from "node:cluster";
import type { Config } from "../config/config.ts";
import { openMetrics } from "../metrics/metrics.ts";
import { openWorkersMetrics, shareWithPrimary } from "../metrics/workers.ts";
import { answerFrom } from "../server/admin/adminPages.ts";
import { startAdminServer } from "../server/admin/adminServer.ts";
import { startAdminThread } from "../server/admin/startAdminThread.ts";
import type { Readiness } from "../server/http/health.ts";
import type { createLog } from "../server/log.ts";
import { keepRequests } from "../server/requests/keptRequests.ts";
import {
	answerPrimary,
	findInWorkers,
	readinessOfWorkers,
} from "../server/requests/questionsToWorkers.ts";
import type { App } from "./defineApp.ts";

interface Admin extends AsyncDisposable {
	/** From now on this says whether the process is ready; until then it is not. */
	readyAs(readiness: () => Promise<Readiness>): void;
}

/**
 * Counts what this process does, and serves that, with its health, if the
 * settings say so. In a worker the primary serves it. Null without the setting:
 * then nothing is counted.
 */
export async function openAdmin(
	{
		admin,
		metricsDocuments,
		slowMs,
	}: Pick<Config, "admin" | "metricsDocuments" | "slowMs">,
	log: ReturnType<typeof createLog>,
	app: Pick<App, "feed">,
): Promise<Admin | null> {
	if (admin === null) return null;
	await using opened = new AsyncDisposableStack();
	const { registry } = opened.use(
		openMetrics({
			documents: metricsDocuments,
			hasFeed: app.feed !== undefined,
		}),
	);
	const requests = opened.use(keepRequests(slowMs));
	let readiness: () => Promise<Readiness> = async () => "not ready";
	if (cluster.isWorker) {
		shareWithPrimary(registry);
		opened.use(
			answerPrimary({
				findRequest: requests.find,
				readiness: () => readiness(),
			}),
		);
	} else {
		const answer = answerFrom({
			metrics: async () => ({
				contentType: registry.contentType,
				text: await registry.metrics(),
			}),
			readiness: () => readiness(),
			findRequest: async (id) => requests.find(id),
		});
		const { url } = opened.use(
			await startAdminThread(admin, answer, {
				onEnd: (err) => log.error({ err }, "admin thread ended"),
			}),
		);
		log.info({ url: `${url}/metrics` }, "metrics served");
	}
	const resources = opened.move();
	return {
		readyAs(given) {
			readiness = given;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/**
 * In the primary of several workers: serves what they count together. It has
 * little else to do, and needs no thread for it.
 */
export async function openAdminOfWorkers({
	admin,
}: Pick<Config, "admin">): Promise<AsyncDisposable | null> {
	if (admin === null) return null;
	return startAdminServer(
		admin,
		answerFrom({
			metrics: openWorkersMetrics(),
			readiness: readinessOfWorkers,
			findRequest: findInWorkers,
		}),
	);
}
