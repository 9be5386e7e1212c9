import { writeFile } from "node:fs/promises";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	newest,
	openStoreForCommand,
	withoutPasswords,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Prints the stored topology, without passwords.",
	operands: [],
	options: {
		file: {
			value: "FILE",
			description:
				"write it to FILE instead, with its passwords (mode 0600), to edit and publish it",
		},
		json: JSON_OPTION,
	},
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using store = openStoreForCommand(context);
	const topology = await newest(store);
	if (options.file !== undefined) {
		const text = `${JSON.stringify(topology, null, "\t")}\n`;
		await writeFile(options.file, text, { mode: 0o600 });
		context.stdout(
			`version ${topology.version} is in ${options.file}: edit it, then topology publish ${options.file}`,
		);
		return 0;
	}
	context.stdout(JSON.stringify(withoutPasswords(topology), null, "\t"));
	return 0;
}
