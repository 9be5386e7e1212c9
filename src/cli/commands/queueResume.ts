import { changeQueueSettings } from "../queue/queueSettings.ts";

export const { usage, run } = changeQueueSettings({
	summary: "Lets the jobs of a paused queue start again, within a second.",
	details:
		"A queue with maxJobsPerSecond=0 stays still: raise that with queues set.",
	values: ["paused=default"],
});
