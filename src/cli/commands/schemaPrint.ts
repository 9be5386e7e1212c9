import { loadOwnModel } from "../../app/model.ts";
import { printModel } from "../../model/print.ts";
import { printPublicSchema } from "../../model/publicSchema.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary: "Prints where every field of the schema lives.",
	operands: [],
	options: {
		public: { description: "the schema that clients see, as SDL, instead" },
	},
};

export async function run(
	given: ParsedArguments,
	io: CommandContext,
): Promise<number> {
	const { model, schema } = loadOwnModel();
	const printed =
		given.options.public === undefined
			? printModel(model)
			: printPublicSchema(schema);
	io.stdout(printed.trimEnd());
	return 0;
}
