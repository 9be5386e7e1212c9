import {
	changesBetween,
	describeChange,
} from "../../topology/describeChange.ts";
import { requireVersion } from "../../topology/history.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { argument, command } from "../command.ts";
import { newest, openStoreForCommand } from "../topologyCommand.ts";
import { version } from "../values.ts";

export const { usage, run } = command({
	summary: "Prints what differs between two versions of the topology.",
	arguments: { from: argument(version("OLD")), to: argument(version("NEW")) },
	async run({ from, to }, context) {
		await using store = openStoreForCommand(context);
		const old = await versionOf(store, from);
		const next = await versionOf(store, to);
		const changes = changesBetween(old, next);
		return {
			value: { from, to, changes },
			lines:
				changes.length === 0 ? ["no difference"] : changes.map(describeChange),
		};
	},
});

/** A file that was edited by hand has a version that no history knows. */
async function versionOf(
	store: TopologyStore,
	version: number,
): Promise<Topology> {
	const current = await newest(store);
	if (current.version === version) return current;
	return (await requireVersion(store, version)).topology;
}
