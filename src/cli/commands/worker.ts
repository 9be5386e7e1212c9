import { once } from "node:events";
import { openAdmin } from "../../app/openAdmin.ts";
import { readConfig } from "../../config/config.ts";
import { createLog } from "../../server/log.ts";
import { logEvents } from "../../server/logEvents.ts";
import { watchDescriptors } from "../../server/watchDescriptors.ts";
import { command, option } from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import { integer, list, present } from "../values.ts";

/** From the signal to stop to the end of the process, whatever handlers do. */
const END_MS = 30_000;

export const { usage, run } = command({
	summary: "Runs jobs until it is interrupted.",
	details: "Running jobs are finished first, for 30 seconds at most.",
	options: {
		queues: option(
			list("A,B"),
			"queues whose jobs it runs (default CORKBOARD_WORKER_QUEUES, or all)",
		),
		concurrency: option(
			integer(1, 1_000),
			"jobs at the same time (default CORKBOARD_WORKER_CONCURRENCY, or 10)",
		),
	},
	hasJson: false,
	async run(given, context) {
		const config = readConfig(context.env);
		const { queues, concurrency } = { ...config.worker, ...present(given) };
		const interruption = context.interruptSignal();
		const { app } = await context.app();
		const log = createLog(config.log);
		using _events = logEvents(log);
		using _descriptors = watchDescriptors(log);
		await using admin = await openAdmin(config, log, app);
		await using corkboard = await openForCommand(
			context,
			config,
			"readWrite",
			"worker",
		);
		await using worker = await corkboard.startWorker({ queues, concurrency });
		admin?.readyAs(async () => (interruption.aborted ? "draining" : "ready"));
		log.info({ queues: worker.queues, concurrency }, "running jobs");
		if (!interruption.aborted) await once(interruption, "abort");
		log.info(
			{ running: worker.running },
			"stopping: running jobs are finished first",
		);
		context.exitWithin(END_MS);
		await worker.drain({ endsProcess: true });
		return 0;
	},
});
