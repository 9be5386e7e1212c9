import { join } from "node:path";
import { CACHES } from "./dashboards/caches.ts";
import { FEED } from "./dashboards/feed.ts";
import { HOSTS } from "./dashboards/hosts.ts";
import { OUTBOX } from "./dashboards/outbox.ts";
import { OVERVIEW } from "./dashboards/overview.ts";
import { PROCESS } from "./dashboards/process.ts";
import { QUEUE } from "./dashboards/queue.ts";
import { ROTATION } from "./dashboards/rotation.ts";
import { type Dashboard, dashboardText } from "./panels.ts";

export const DASHBOARDS: readonly Dashboard[] = [
	OVERVIEW,
	HOSTS,
	CACHES,
	OUTBOX,
	QUEUE,
	ROTATION,
	FEED,
	PROCESS,
];

/** The files that Grafana reads. `npm run update` writes them, so that no operator needs this program. */
export function dashboardFiles(): ReadonlyMap<string, string> {
	return new Map(
		DASHBOARDS.map((dashboard) => [
			join(import.meta.dirname, `${dashboard.name}.json`),
			dashboardText(dashboard),
		]),
	);
}
