import { loadOwnModel } from "../../app/model.ts";
import { describeModel, printModel } from "../../model/print.ts";
import { printPublicSchema } from "../../model/publicSchema.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary: "Prints where each field of the schema is stored.",
	operands: [],
	options: {
		public: { description: "print the SDL that clients see" },
		json: JSON_OPTION,
	},
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { model, schema } = loadOwnModel();
	const isPublic = given.options.public !== undefined;
	const isJson = given.options.json !== undefined;
	if (isPublic && isJson) {
		throw new UsageError("Give --public, which prints SDL, or --json.");
	}
	const printed = isPublic
		? printPublicSchema(schema)
		: isJson
			? JSON.stringify(describeModel(model), null, "\t")
			: printModel(model);
	context.stdout(printed.trimEnd());
	return 0;
}
