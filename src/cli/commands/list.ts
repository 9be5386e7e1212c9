import { listObjects } from "../../app/listObjects.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { type ParsedArguments, type Usage, UsageError } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";

const DEFAULT = 100;

export const usage: Usage = {
	summary:
		"Prints the objects of a list of the whole graph, such as reports, as lines of JSON.",
	operands: ["FIELD"],
	options: {
		first: {
			value: "N",
			description: `how many from the start (default ${DEFAULT})`,
		},
	},
	exitCodes: { 1: "objects that could not be read, or an error" },
	details:
		"FIELD is the field of Query that reads the list, also if the API does not have it. It prints what is stored, whoever may see it. Stop the server of an embedded data folder first.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [field = ""] = given.operands;
	const first = given.options.first ?? String(DEFAULT);
	if (!/^[1-9][0-9]{0,6}$/.test(first)) {
		throw new UsageError(`N must be a number from 1 on, got ${first}.`);
	}
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readOnly",
	);
	let unread = 0;
	for await (const object of listObjects(
		corkboard.store,
		field,
		Number(first),
	)) {
		if (object instanceof CorkboardError) {
			unread++;
			context.stderr(`corkboard: ${object.message}`);
		} else {
			context.stdout(JSON.stringify(object));
		}
	}
	return unread > 0 ? 1 : 0;
}
