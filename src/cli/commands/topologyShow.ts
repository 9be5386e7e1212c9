import { writeFile } from "node:fs/promises";
import { command, option } from "../command.ts";
import {
	newest,
	openStoreForCommand,
	withoutPasswords,
} from "../topologyCommand.ts";

export const { usage, run } = command({
	summary: "Prints the stored topology, without passwords.",
	options: {
		file: option(
			"FILE",
			"write it to FILE instead, with its passwords (mode 0600), to edit and publish it",
		),
	},
	async run({ file }, context) {
		await using store = openStoreForCommand(context);
		const topology = await newest(store);
		if (file !== undefined) {
			await writeFile(file, `${JSON.stringify(topology, null, "\t")}\n`, {
				mode: 0o600,
			});
			const { version } = topology;
			return {
				value: { version, file },
				lines: [
					`version ${version} is in ${file}: edit it, then map publish ${file}`,
				],
			};
		}
		const value = withoutPasswords(topology);
		return { value, lines: [JSON.stringify(value, null, "\t")] };
	},
});
