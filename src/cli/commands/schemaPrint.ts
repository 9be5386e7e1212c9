import { loadOwnModel } from "../../app/model.ts";
import { printModel } from "../../model/print.ts";
import { printPublicSchema } from "../../model/publicSchema.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary: "Prints where each field of the schema is stored.",
	operands: [],
	options: {
		public: { description: "print the SDL that clients see" },
	},
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { model, schema } = loadOwnModel();
	const printed =
		given.options.public === undefined
			? printModel(model)
			: printPublicSchema(schema);
	context.stdout(printed.trimEnd());
	return 0;
}
