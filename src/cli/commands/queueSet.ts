import { argument, command, many } from "../command.ts";
import { SETTINGS_OPTIONS, setAndPrint } from "../queue/queueSettings.ts";

export const { usage, run } = command({
	summary: "Changes settings of a queue; workers apply them within a second.",
	arguments: {
		queue: argument("QUEUE"),
		values: many("NAME=VALUE"),
	},
	...SETTINGS_OPTIONS,
	details:
		"NAME=default takes the default again. queues list QUEUE prints the settings and what each takes; docs/how-to/queue.md explains them.",
	run: setAndPrint,
});
