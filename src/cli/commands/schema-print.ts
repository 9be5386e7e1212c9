import { loadOwnModel } from "../../app/model.ts";
import { printModel } from "../../model/print.ts";
import { printPublicSchema } from "../../model/publicSchema.ts";
import type { Arguments, Usage } from "../arguments.ts";
import type { Io } from "../io.ts";

export const usage: Usage = {
	about: "Prints where every field of the schema lives.",
	operands: [],
	options: {
		public: { about: "the schema that clients see, as SDL, instead" },
	},
};

export async function run(given: Arguments, io: Io): Promise<number> {
	const { model, schema } = loadOwnModel();
	const printed =
		given.options.public === undefined
			? printModel(model)
			: printPublicSchema(schema);
	io.out(printed.trimEnd());
	return 0;
}
