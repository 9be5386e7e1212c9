import { once } from "node:events";
import { logEvents } from "../../app/logEvents.ts";
import { dataFoldersOf, openTopology } from "../../app/openTopology.ts";
import { startCorkboardServer } from "../../app/startCorkboardServer.ts";
import { type Config, readConfig } from "../../config.ts";
import { CorkboardError } from "../../errors.ts";
import { createLog } from "../../server/log.ts";
import { type ParsedArguments, type Usage, UsageError } from "../arguments.ts";
import { banner } from "../banner.ts";
import { runChecks } from "../checkAll.ts";
import type { CommandContext } from "../commandContext.ts";
import { prepareDemo } from "../demo.ts";
import { isWorker, runWorkers } from "../workers.ts";

export const usage: Usage = {
	summary: "Serves the graph at /graphql until it is interrupted.",
	operands: [],
	options: {
		workers: {
			value: "N",
			description: "processes that serve; 1 if not given",
		},
		check: {
			description:
				"hold settings, schema, shard map and the tables of every shard against each other, and serve nothing",
		},
	},
};

export async function run(
	given: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const config = readConfig(io.env);
	const workers = workersOf(given.options.workers, config);
	if (given.options.check !== undefined) return runChecks(config, io);
	if (workers > 1) return runWorkers(workers, io);
	const interruption = io.interruptSignal();
	const log = createLog(config.log);
	using _news = logEvents(log);
	await using corkboard = await io.open(config, "readWrite");
	const { store } = config;
	const demo =
		store.kind === "embedded" && store.demo
			? await prepareDemo(corkboard, store.folder, io)
			: undefined;
	if (interruption.aborted) return 0;
	// A token for everybody who looks is for machines of one's own.
	const shown = demo && config.mode === "development" ? { demo } : {};
	await using server = await startCorkboardServer(corkboard, { log, ...shown });
	if (config.mode === "development" && !isWorker()) {
		io.stdout(
			banner({
				url: server.url,
				graphiql: config.graphiql === "everyone",
				folder: store.kind === "embedded" ? store.folder : null,
				...shown,
			}),
		);
	}
	if (!interruption.aborted) await once(interruption, "abort");
	return 0;
}

/** How many processes are to serve; 1 for one of them itself. */
function workersOf(text: string | undefined, config: Config): number {
	if (text === undefined || isWorker()) return 1;
	if (!/^[1-9][0-9]{0,3}$/.test(text)) {
		throw new UsageError(
			`expected --workers to be a number from 1 to 9999 but got: ${text}`,
		);
	}
	const workers = Number(text);
	if (workers > 1 && dataFoldersOf(openTopology(config).topology).size > 0) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`--workers must be 1 with an embedded data folder but got: ${text}; one process owns the folder, as its cache would not hear of what another writes`,
		);
	}
	return workers;
}
