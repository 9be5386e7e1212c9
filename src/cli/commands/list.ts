import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { listObjects } from "../../ops/listObjects.ts";
import { argument, command, option } from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import { integer } from "../values.ts";

const DEFAULT = 100;

export const { usage, run } = command({
	summary:
		"Prints the objects of a list of the whole graph, such as reports, as lines of JSON.",
	arguments: { field: argument("FIELD") },
	options: {
		first: option(
			integer(1, 9_999_999),
			`how many from the start (default ${DEFAULT})`,
			DEFAULT,
		),
	},
	exitCodes: { 1: "objects that could not be read, or an error" },
	details:
		"FIELD is the field of Query that reads the list, also if the API does not have it. It prints what is stored, whoever may see it. Stop the server of an embedded data folder first.",
	hasJson: false,
	async run({ field, first }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		let unread = 0;
		for await (const object of listObjects(corkboard.store, field, first)) {
			if (object instanceof CorkboardError) {
				unread++;
				context.stderr(`corkboard: ${object.message}`);
			} else {
				context.stdout(JSON.stringify(object));
			}
		}
		return unread > 0 ? 1 : 0;
	},
});
