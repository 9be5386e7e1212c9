import { changeQueueSettings } from "../queue/queueSettings.ts";

export const { usage, run } = changeQueueSettings({
	summary: "Pauses a queue: within a second no job of it starts any more.",
	details:
		"Jobs that run go on to their end, and new jobs are accepted. queues resume undoes it; a rate limit stays as it is.",
	values: ["paused=true"],
});
