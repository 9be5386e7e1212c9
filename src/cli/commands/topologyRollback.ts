import { CorkboardError } from "../../errors.ts";
import { laterPrimaries, rollbackTo } from "../../fleet/map/edits.ts";
import { findUnwritten } from "../../fleet/operations/unwritten.ts";
import { readCurrent, requireVersion } from "../../topology/history.ts";
import { argument, command, flag, option } from "../command.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	openStoreForCommand,
	publishForCommand,
	UNCHECKED,
} from "../topologyCommand.ts";
import { list, version } from "../values.ts";

export const { usage, run } = command({
	summary:
		"Publishes an older version's open ranges, weights and replicas again.",
	arguments: { version: argument(version()) },
	options: {
		onlyPlacement: flag(
			"open ranges and weights alone, whatever the hosts are",
		),
		unwritten: option(
			list("HOSTS"),
			"primaries that do not answer and, as you know, never took a write, separated by commas",
			[],
		),
		unchecked: UNCHECKED,
		...CHANGE_OPTIONS,
	},
	details:
		"Primaries stay, and so do generations: a former primary lacks what was written since, so a version that names one is refused. Where the later primary never took a write, as one at a wrong port, the former comes back, with a higher generation. Shards that came later stay, closed.",
	exitCodes: CHANGE_EXIT_CODES,
	async run({ version, onlyPlacement, unwritten: stated, ...given }, context) {
		await using store = openStoreForCommand(context);
		const { topology: old } = await requireVersion(store, version);
		const current = await readCurrent(store);
		const { names: unwritten, reasons } = await findUnwritten(
			{ store, environment: context.env, stated },
			current === null || onlyPlacement
				? []
				: laterPrimaries(current.topology, old),
		);
		try {
			return await publishForCommand(context, given, {
				edit: (now) =>
					now === null
						? old
						: rollbackTo(now, old, { onlyPlacement, unwritten }),
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
	},
});
