import pinsApp from "../../pins/app.ts";
import type { App } from "../../src/app/defineApp.ts";
import { openAdmin } from "../../src/app/openAdmin.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/server/log.ts";
import { logSlowRequests } from "../../src/server/requests/slowRequests.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openConfiguredTraces } from "../../src/traces/openConfiguredTraces.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

export interface WholeServer extends AsyncDisposable {
	readonly url: string;
	/** What the program's parts stand on. */
	readonly storage: Storage;
	/** The URL of what CORKBOARD_ADMIN opens; null if it is not set. */
	readonly admin: string | null;
	/** What was logged: JSON lines, parsed. */
	readonly lines: readonly Record<string, unknown>[];
	/** A request as it is; the answer with its body read. */
	ask(
		body: unknown,
		headers?: Readonly<Record<string, string>>,
	): Promise<{ readonly response: Response; readonly text: string }>;
}

/** The real schema, graph, plan and server, put together in this process as `serve` does, on a folder of its own. */
export async function startWhole(
	env: Readonly<Record<string, string>> = {},
	app: App = pinsApp,
): Promise<WholeServer> {
	await using stack = new AsyncDisposableStack();
	const folder = stack.use(temporaryFolder());
	const config = readConfig({
		PORT: "0",
		...(env.CORKBOARD_TOPOLOGY === undefined && {
			CORKBOARD_DATA: folder.path,
		}),
		...env,
	});
	const corkboard = stack.use(await openCorkboard(app, config, "readWrite"));
	const lines: Record<string, unknown>[] = [];
	const log = createLog({
		level: "info",
		format: "json",
		destination: { write: (line) => lines.push(JSON.parse(line)) },
	});
	const admin = stack.use(await openAdmin(config, log, app));
	if (config.slowMs !== null) stack.use(logSlowRequests(log, config.slowMs));
	const traces = stack.use(await openConfiguredTraces(config));
	const server = stack.use(
		await startCorkboardServer(corkboard, { log, traces }),
	);
	admin?.readyAs(server.readiness);
	const resources = stack.move();
	return {
		url: server.url,
		storage: corkboard.storage,
		admin: adminOf(lines),
		lines,
		async ask(body, headers = {}) {
			const response = await fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: { "content-type": "application/json", ...headers },
				body: typeof body === "string" ? body : JSON.stringify(body),
			});
			return { response, text: await response.text() };
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

function adminOf(lines: readonly Record<string, unknown>[]): string | null {
	const served = lines.find(({ msg }) => msg === "metrics served");
	return served === undefined ? null : String(served.url);
}
