import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "./program.ts";
import { Server } from "./server.ts";

const DEPLOY = join(import.meta.dirname, "../../deploy/prometheus");

/** A Prometheus with our configuration and alerts, which scrapes `target` (`host:port`) and looks at its rules every second. */
export async function startPrometheus(target: string): Promise<Server> {
	const { command } = await findProgram("prometheus");
	const config = readFileSync(join(DEPLOY, "prometheus.yml"), "utf8")
		.replace(/targets: .*/, `targets: ["${target}"]`)
		.replace("- alerts.yml", `- ${join(DEPLOY, "alerts.yml")}`)
		.replaceAll(/_(interval|timeout): \d+s/g, "_$1: 1s");
	return Server.start({
		scheme: "http",
		credentials: "",
		prepare: (folder) => writeFile(join(folder, "prometheus.yml"), config),
		command: (folder, port) => [
			...command,
			`--config.file=${join(folder, "prometheus.yml")}`,
			`--storage.tsdb.path=${join(folder, "data")}`,
			`--web.listen-address=127.0.0.1:${port}`,
		],
		async answers({ folder, port }) {
			const root = `http://127.0.0.1:${port}`;
			const ready = await fetch(`${root}/-/ready`);
			const flags = await fetch(`${root}/api/v1/status/flags`);
			const { data } = (await flags.json()) as {
				readonly data: Readonly<Record<string, string>>;
			};
			return ready.ok && data["storage.tsdb.path"] === join(folder, "data");
		},
	});
}

export interface Sample {
	readonly metric: Readonly<Record<string, string>>;
	readonly value: readonly [at: number, value: string];
}

/** What an expression is now. Throws what Prometheus says against it. */
export async function queryPrometheus(
	{ url }: Server,
	expression: string,
): Promise<readonly Sample[]> {
	const response = await fetch(
		`${url}/api/v1/query?${new URLSearchParams({ query: expression })}`,
	);
	const { data, error } = (await response.json()) as {
		readonly data?: { readonly result: readonly Sample[] };
		readonly error?: string;
	};
	if (data === undefined) throw new Error(`${expression}: ${error}`);
	return data.result;
}
