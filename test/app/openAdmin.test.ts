import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openAdmin } from "../../src/app/openAdmin.ts";
import { createLog } from "../../src/server/log.ts";
import { until } from "../helpers/until.ts";

const SETTINGS = { metricsDocuments: 0, slowMs: null };

suite("the admin address of a process", () => {
	test("is logged, and not ready until the process says so", async () => {
		const lines: Record<string, unknown>[] = [];
		const log = createLog({
			level: "info",
			format: "json",
			destination: { write: (line) => lines.push(JSON.parse(line)) },
		});
		await using admin = await openAdmin(
			{ ...SETTINGS, admin: { host: "127.0.0.1", port: 0 } },
			log,
			{},
		);
		assert.equal(lines[0]?.msg, "metrics served");
		const metrics = String(lines[0]?.url);
		assert.match(metrics, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
		const says = async (status: number, text: string) => {
			const response = await fetch(new URL("/health/ready", metrics));
			// A late answer comes the next time.
			return response.status === status && (await response.text()) === text;
		};
		await until("it says so", () => says(503, '{"status":"not ready"}'));
		admin?.readyAs(async () => "ready");
		await until("it is ready", () => says(200, '{"status":"ready"}'));
		admin?.readyAs(async () => "draining");
		await until("it drains", () => says(503, '{"status":"draining"}'));
		const { status } = await fetch(metrics);
		assert.equal(status, 200);
	});

	test("is none without the setting", async () => {
		const log = createLog({ level: "info", format: "json" });
		assert.equal(await openAdmin({ ...SETTINGS, admin: null }, log, {}), null);
	});
});
