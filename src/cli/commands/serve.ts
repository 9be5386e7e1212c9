import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { App } from "../../app/defineApp.ts";
import { openAdmin, openAdminOfWorkers } from "../../app/openAdmin.ts";
import type { Corkboard } from "../../app/openCorkboard.ts";
import { openTopology, protectionsOff } from "../../app/openTopology.ts";
import { prepareDemo } from "../../app/prepareDemo.ts";
import { startCorkboardServer } from "../../app/startCorkboardServer.ts";
import { cacheHosts } from "../../cache/serverList.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { SETTINGS } from "../../config/settings.ts";
import { CorkboardError } from "../../errors.ts";
import { runChecks } from "../../fleet/runChecks.ts";
import type { Demo } from "../../server/graphiql/registerGraphiql.ts";
import { createLog } from "../../server/log.ts";
import { logEvents } from "../../server/logEvents.ts";
import {
	reportMissingTables,
	reportSmallSettings,
} from "../../server/reportMissingTables.ts";
import { logSlowRequests } from "../../server/requests/slowRequests.ts";
import { requireFreePort } from "../../server/server.ts";
import { watchDescriptors } from "../../server/watchDescriptors.ts";
import { dataFoldersOf } from "../../topology/ranges.ts";
import { openConfiguredTraces } from "../../traces/openConfiguredTraces.ts";
import { banner } from "../banner.ts";
import { command, flag, option, type Result } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { createProgressLine, formatPace } from "../progress.ts";
import { integer } from "../values.ts";
import { isWorker, runWorkers, type WorkerExit } from "../workers.ts";

export const { usage, run } = command({
	summary: "Serves the graph at /graphql until it is interrupted.",
	options: {
		workers: option(integer(1, 9_999), "number of processes (default 1)", 1),
		check: flag(
			"check settings, schema, documents, topology, hosts and the tables of every shard, and serve nothing",
		),
	},
	settings: Object.entries(SETTINGS).map(([name, { kind, shown }]) => [
		name,
		`${kind.expected}; ${shown.replaceAll("`", "")}`,
	]),
	hasJson: false,
	async run({ workers, check: isCheck }, context) {
		const config = readConfig(context.env);
		if (workers > 1 && !isWorker()) {
			await requireSharedFolders(workers, config);
			if (!isCheck) return serveWithWorkers(workers, config, context);
		}
		return isCheck ? check(config, context) : serve(config, context);
	},
});

async function serveWithWorkers(
	workers: number,
	config: Config,
	context: CommandContext,
): Promise<number> {
	await using _admin = await openAdminOfWorkers(config);
	return await runWorkers(workers, context, {
		limits: { stopMs: WORKER_STOP_MS + config.http.shutdownDelayMs },
		...(config.log.format === "json" && {
			onEnd: reportEnd(createLog(config.log)),
		}),
	});
}

async function serve(config: Config, context: CommandContext): Promise<number> {
	limitGarbage();
	const interruption = context.interruptSignal();
	const { app } = await context.app();
	const log = createLog(config.log);
	using _events = logEvents(log);
	using _descriptors = watchDescriptors(log);
	using _slow =
		config.slowMs === null ? null : logSlowRequests(log, config.slowMs);
	// Before the topology is opened, whose version it reports.
	await using admin = await openAdmin(config, log, app);
	// After the server: what its last requests did is sent.
	await using traces = await openConfiguredTraces(config);
	await using corkboard = await context.open(config, "readWrite", "serve");
	using _tables = reportMissingTables(corkboard.admin, log);
	void reportSmallSettings(corkboard.admin, log);
	if (corkboard.modelProblem !== null) {
		log.warn({ reason: corkboard.modelProblem }, "model is not the newest");
	}
	const off = await protectionsOff(config);
	if (off !== null) log.warn({ reason: off }, "protections are off");
	const { caches } = corkboard.topology;
	if (caches !== undefined && cacheHosts(undefined, config).length > 0) {
		log.warn({}, "caches of the settings are not used");
	}
	const { store } = config;
	let demo: Demo | undefined;
	if (store.kind === "embedded" && store.demo) {
		await requireFreePort(config.host, config.port);
		const noted = noting(config, log, context);
		demo = await demoOf(corkboard, store.folder, noted);
	}
	if (interruption.aborted) return 0;
	// GraphiQL shows the demo user's token, and the banner on a terminal: for development only.
	const shown = demo && config.mode === "development" ? { demo } : {};
	// The first time it takes a while: before requests come.
	flushCompileCache();
	await using server = await startCorkboardServer(corkboard, {
		log,
		traces,
		...shown,
	});
	admin?.readyAs(server.readiness);
	// It is no line of JSON.
	const isRead = config.log.format === "text";
	if (config.mode === "development" && isRead && !isWorker()) {
		context.stdout(
			banner({
				url: server.url,
				graphiql: config.graphiql === "everyone",
				folder: store.kind === "embedded" ? store.folder : null,
				strict: config.persistedDocuments.mode === "strict",
				firstQuery: firstQueryOf(corkboard.app, demo !== undefined),
				showsToken: context.isOutputTerminal,
				...shown,
			}),
		);
	}
	const worker =
		config.worker.inServe && corkboard.queues !== null
			? await corkboard.startWorker(config.worker)
			: null;
	// The little that was loaded since: one that is killed keeps it too.
	flushCompileCache();
	log.info({ url: server.url }, "serving");
	if (config.mode === "production" && config.http.rateLimit === null) {
		// createUser needs no token.
		log.warn(
			"no rate limit: anybody may create users without end. Set CORKBOARD_RATE_LIMIT, or limit addresses before this server",
		);
	}
	if (!interruption.aborted) await once(interruption, "abort");
	const { shutdownDelayMs } = config.http;
	if (shutdownDelayMs > 0) {
		log.info({ ms: shutdownDelayMs }, "stopping: not ready, and serving");
		server.leave();
		await sleep(shutdownDelayMs);
	}
	log.info("stopping: requests in progress are finished first");
	if (worker !== null) {
		context.exitWithin(WORKER_END_MS);
		// Beside the requests: both take their time.
		await Promise.all([server.close(), worker.drain({ endsProcess: true })]);
	}
	return 0;
}

/** What the banner shows: a query of the demo graph, or one that finds something in any graph. */
function firstQueryOf({ demo, firstQuery }: App, hasDemo: boolean): string {
	const query = hasDemo ? demo?.firstQuery : firstQuery;
	return query ?? "{ __typename }";
}

/** From the end of the shutdown delay to that of a process that runs jobs, whatever their handlers do. */
const WORKER_END_MS = 30_000;
/** From there to SIGKILL. */
const WORKER_STOP_MS = WORKER_END_MS + 5_000;

/**
 * V8 lets the heap grow to several times what is alive before it collects all
 * garbage: of a process whose caches are full, from 100 MB to 400. From now on it
 * may double. While V8 marks what is alive, a process on one core has half of it:
 * with a growth of 25 MB that was every other second under load, and requests were
 * refused meanwhile.
 *
 * V8 also makes objects in the old generation at once if earlier ones of the
 * same place in the code lived long, as those do that caches keep. Most of what is
 * decoded there is of one request, and would stay until all garbage is collected.
 */
function limitGarbage(): void {
	setFlagsFromString("--heap-growing-percent=100");
	setFlagsFromString("--no-allocation-site-pretenuring");
}

async function check(config: Config, context: CommandContext): Promise<Result> {
	const { problems, warnings, types, topologyVersion, shards } =
		await runChecks(await context.app(), config, context.open);
	if (problems.length > 0) {
		throw new CorkboardError("BAD_DATA", problems.join("\n"));
	}
	return {
		lines: [
			`good: settings, schema (${types} types, as locked), topology (version ${topologyVersion}), shards (${shards === null ? "created at the first start" : `${shards} with all their tables`})`,
			...warnings.map((warning) => `but ${warning}`),
		],
	};
}

type Log = ReturnType<typeof createLog>;

/** If the log is JSON, all that is said while the program runs is a line of it. */
function noting(
	config: Config,
	log: Log,
	context: CommandContext,
): CommandContext {
	if (config.log.format === "text") return context;
	return {
		...context,
		isTerminal: false,
		stderr: (text) => log.info(text),
		stderrRaw: (text) => log.info(text),
	};
}

function reportEnd(log: Log): (worker: number, exit: WorkerExit) => void {
	return (worker, { code, signal }) =>
		log.warn({ worker, code, signal }, "worker ended");
}

async function demoOf(
	corkboard: Corkboard,
	folder: string,
	context: CommandContext,
): Promise<Demo | undefined> {
	const progress = createProgressLine(context);
	return prepareDemo(corkboard, folder, {
		signal: context.interruptSignal(),
		onImport: () =>
			context.stderr(
				"Importing a demo graph (CORKBOARD_DEMO=off starts without one) …",
			),
		onWaiting: (what) => context.stderr(`waiting for ${what} …`),
		onProgress: (state) => progress.update(formatPace(state)),
		onImported: () => progress.end(),
	});
}

/** Throws BAD_CONFIG for several processes with an embedded data folder. */
async function requireSharedFolders(
	workers: number,
	config: Config,
): Promise<void> {
	await using source = await openTopology(config);
	if (dataFoldersOf(source.topology).size === 0) return;
	throw new CorkboardError(
		"BAD_CONFIG",
		`--workers must be 1 with an embedded data folder, got ${workers}: only one process can own the folder.`,
	);
}
