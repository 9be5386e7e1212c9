import { CorkboardError } from "../../errors.ts";
import { laterPrimaries, rollbackTo } from "../../ops/edits.ts";
import { findUnwritten } from "../../ops/fleet/unwritten.ts";
import { readCurrent, requireVersion } from "../../topology/history.ts";
import { parseList } from "../../util/settings.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	openStoreForCommand,
	publishForCommand,
	UNCHECKED_OPTION,
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
		unwritten: {
			value: "HOSTS",
			description:
				"primaries that do not answer and, as you know, never took a write, separated by commas",
		},
		unchecked: UNCHECKED_OPTION,
		...CHANGE_OPTIONS,
	},
	details:
		"Primaries stay, and so do generations: a former primary lacks what was written since, so a version that names one is refused. Where the later primary never took a write, as one at a wrong port, the former comes back, with a higher generation. Shards that came later stay, closed.",
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
	const current = await readCurrent(store);
	const { names: unwritten, reasons } = await findUnwritten(
		{
			store,
			environment: context.env,
			stated: parseList(options.unwritten ?? ""),
		},
		current === null || onlyPlacement
			? []
			: laterPrimaries(current.topology, old),
	);
	try {
		return await publishForCommand(context, options, {
			edit: (now) =>
				now === null ? old : rollbackTo(now, old, { onlyPlacement, unwritten }),
			why: `roll back to version ${version}`,
		});
	} catch (thrown) {
		if (reasons.length === 0 || !(thrown instanceof CorkboardError)) {
			throw thrown;
		}
		throw new CorkboardError(
			thrown.code,
			[
				thrown.message,
				...reasons,
				"Open ranges and weights alone can go back: --only-placement.",
			].join("\n"),
			{ cause: thrown },
		);
	}
}
