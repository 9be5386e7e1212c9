import { listVersions, readVersion } from "../../topology/history.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { table } from "../table.ts";
import { openStoreForCommand } from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Prints who published which version of the topology, newest first.",
	operands: [],
	options: { json: JSON_OPTION },
	details: "The newest 20 are printed of the 1,000 that are kept.",
};

const PRINTED = 20;

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using store = openStoreForCommand(context);
	const versions = (await listVersions(store)).slice(0, PRINTED);
	const entries = await Promise.all(
		versions.map((version) => readVersion(store, version)),
	);
	const known = entries.filter((entry) => entry !== null);
	if (options.json !== undefined) {
		const described = known.map(({ topology, by, at, why, operation }) => ({
			version: topology.version,
			at,
			by,
			why,
			operation,
		}));
		context.stdout(JSON.stringify(described, null, "\t"));
	} else if (known.length === 0) {
		context.stdout("no version was published yet");
	} else {
		const rows = known.map(({ topology, at, by, why }) => [
			String(topology.version),
			`${at.slice(0, 16).replace("T", " ")}`,
			why,
			by,
		]);
		for (const line of table([["version", "at (UTC)", "why", "by"], ...rows])) {
			context.stdout(line);
		}
	}
	return 0;
}
