import { rollbackTo } from "../../ops/publishTopology.ts";
import { requireVersion } from "../../topology/history.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	openStoreForCommand,
	publishForCommand,
	versionIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary:
		"Publishes an older version's open ranges, weights and replicas again.",
	operands: ["VERSION"],
	options: {
		"only-placement": {
			description: "open ranges and weights alone, whatever the hosts are",
		},
		...CHANGE_OPTIONS,
	},
	details:
		"Primaries stay, and so do generations: a former primary lacks what was written since, so a version that names one is refused. Shards that came later stay, closed.",
	exitCodes: CHANGE_EXIT_CODES,
};

export async function run(
	{ operands: [text], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const version = versionIn(text);
	const onlyPlacement = options["only-placement"] !== undefined;
	await using store = openStoreForCommand(context);
	const { topology: old } = await requireVersion(store, version);
	return publishForCommand(
		context,
		options,
		(current) =>
			current === null ? old : rollbackTo(current, old, { onlyPlacement }),
		{ why: `roll back to version ${version}` },
	);
}
