import { placeShards } from "../../fleet/map/edits.ts";
import { existing } from "../../fleet/map/publish.ts";
import { argument, command } from "../command.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	publishForCommand,
} from "../topologyCommand.ts";
import { formatShards, SHARDS } from "../values.ts";

export const { usage, run } = command({
	summary: "Closes shards: they serve all they have, and get no new users.",
	arguments: { shards: argument(SHARDS) },
	options: CHANGE_OPTIONS,
	exitCodes: CHANGE_EXIT_CODES,
	async run({ shards, ...given }, context) {
		return publishForCommand(context, given, {
			edit: existing((now) => placeShards(now, shards, { open: false })),
			why: `close ${formatShards(shards)}`,
		});
	},
});
