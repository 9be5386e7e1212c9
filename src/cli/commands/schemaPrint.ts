import { printPublicSchema } from "../../model/publicSchema.ts";
import { describeModel, printModel } from "../../model/schema/print.ts";
import { UsageError } from "../arguments.ts";
import { command, flag } from "../command.ts";

export const { usage, run } = command({
	summary: "Prints where each field of the schema is stored.",
	options: {
		public: flag("print the SDL that clients see"),
	},
	async run({ public: isPublic, json }, context) {
		if (isPublic && json) {
			throw new UsageError("Give --public, which prints SDL, or --json.");
		}
		const { model, schema } = await context.app();
		const printed = isPublic ? printPublicSchema(schema) : printModel(model);
		return { value: describeModel(model), lines: [printed.trimEnd()] };
	},
});
