import { placeShards } from "../../fleet/map/edits.ts";
import { existing } from "../../fleet/map/publish.ts";
import { argument, command } from "../command.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
	UNCHECKED,
} from "../topologyCommand.ts";
import { formatShards, SHARDS, weight } from "../values.ts";

export const { usage, run } = command({
	summary:
		"Sets how many new users each of these shards gets, compared with weight 1.",
	arguments: { shards: argument(SHARDS), weight: argument(weight("WEIGHT")) },
	options: { unchecked: UNCHECKED, ...CHANGE_OPTIONS },
	exitCodes: CHANGE_EXIT_CODES,
	async run({ shards, weight, ...given }, context) {
		return publishForCommand(context, given, {
			edit: existing((now) => placeShards(now, shards, { weight })),
			why: `weigh ${formatShards(shards)} ${weight}`,
		});
	},
});
