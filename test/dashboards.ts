/**
 * `npm run screenshot:dashboards -- --prometheus URL`: draws the dashboards of
 * deploy/grafana/ with the numbers of a Prometheus that scrapes Corkboard, as
 * Grafana does, and writes them to docs/images/dashboard-NAME.png. `--to FOLDER`
 * writes them elsewhere, `--minutes M` shows so many (15), `--only NAME` draws one.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readDashboards } from "./deploy/monitoring.ts";
import { openBrowser } from "./helpers/browser.ts";
import { drawDashboard, type Series } from "./helpers/drawDashboard.ts";

const POINTS = 120;
/** Grafana's `$__rate_interval` for a scrape every 10 s. */
const RATE_INTERVAL = "1m";
const WIDTH = 1_280;

const { values: options } = parseArgs({
	options: {
		prometheus: { type: "string" },
		to: { type: "string" },
		minutes: { type: "string", default: "15" },
		only: { type: "string" },
	},
});
const { prometheus, only } = options;
if (prometheus === undefined || !(Number(options.minutes) > 0)) {
	throw new Error(
		"expected --prometheus URL, such as http://127.0.0.1:9090, and --minutes above 0",
	);
}
const folder = options.to ?? join(import.meta.dirname, "../docs/images");
const to = Date.now() / 1_000;
const from = to - Number(options.minutes) * 60;

async function ask(expression: string): Promise<readonly Series[]> {
	const question = new URLSearchParams({
		query: expression.replaceAll("$__rate_interval", RATE_INTERVAL),
		start: String(from),
		end: String(to),
		step: String((to - from) / POINTS),
	});
	const response = await fetch(`${prometheus}/api/v1/query_range?${question}`);
	const { data, error } = (await response.json()) as {
		readonly data?: {
			readonly result: readonly {
				readonly metric: Readonly<Record<string, string>>;
				readonly values: readonly (readonly [at: number, value: string])[];
			}[];
		};
		readonly error?: string;
	};
	if (data === undefined) throw new Error(`${expression}: ${error}`);
	return data.result.map(({ metric, values }) => ({
		labels: metric,
		points: values.map(([at, value]) => [at, Number(value)]),
	}));
}

mkdirSync(folder, { recursive: true });
await using browser = await openBrowser();
for (const dashboard of readDashboards()) {
	const name = dashboard.uid.replace("corkboard-", "");
	if (only !== undefined && only !== name) continue;
	const html = await drawDashboard(dashboard, { ask, from, to });
	const page = await browser.newPage({
		viewport: { width: WIDTH, height: 400 },
		deviceScaleFactor: 1.5,
	});
	await page.setContent(html);
	await page.evaluate(() => document.fonts.ready);
	const path = join(folder, `dashboard-${name}.png`);
	await page.screenshot({ path, fullPage: true });
	await page.close();
	process.stdout.write(`${path}\n`);
}
