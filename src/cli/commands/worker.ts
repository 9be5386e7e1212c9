import { once } from "node:events";
import { logEvents } from "../../app/logEvents.ts";
import { openAdmin } from "../../app/openAdmin.ts";
import { readConfig } from "../../config/config.ts";
import { createLog } from "../../server/log.ts";
import { parseInteger, parseList } from "../../util/settings.ts";
import { type ParsedArguments, type Usage, UsageError } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";

/** From the signal to stop to the end of the process, whatever handlers do. */
const END_MS = 30_000;

export const usage: Usage = {
	summary:
		"Runs jobs until it is interrupted; running jobs are finished first, for 30 seconds at most.",
	operands: [],
	options: {
		queues: {
			value: "A,B",
			description:
				"queues whose jobs it runs (default CORKBOARD_WORKER_QUEUES, or all)",
		},
		concurrency: {
			value: "N",
			description:
				"jobs at the same time (default CORKBOARD_WORKER_CONCURRENCY, or 10)",
		},
	},
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const config = readConfig(context.env);
	const queues =
		options.queues === undefined
			? config.worker.queues
			: parseList(options.queues);
	const concurrency = concurrencyOf(
		options.concurrency,
		config.worker.concurrency,
	);
	const interruption = context.interruptSignal();
	const log = createLog(config.log);
	using _events = logEvents(log);
	await using _admin = await openAdmin(config, log);
	await using corkboard = await openForCommand(
		context,
		config,
		"readWrite",
		"worker",
	);
	await using worker = await corkboard.startWorker({ queues, concurrency });
	log.info({ queues: worker.queues, concurrency }, "running jobs");
	if (!interruption.aborted) await once(interruption, "abort");
	log.info(
		{ running: worker.running },
		"stopping: running jobs are finished first",
	);
	context.exitWithin(END_MS);
	await worker.drain({ endsProcess: true });
	return 0;
}

function concurrencyOf(text: string | undefined, otherwise: number): number {
	if (text === undefined) return otherwise;
	const given = parseInteger(text, 1, 1_000);
	if (given === undefined) {
		throw new UsageError(
			`--concurrency must be between 1 and 1000, got ${text}.`,
		);
	}
	return given;
}
