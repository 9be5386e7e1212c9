import {
	changesBetween,
	describeChange,
} from "../../topology/describeChange.ts";
import { requireVersion } from "../../topology/history.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { newest, openStoreForCommand, versionIn } from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Prints what differs between two versions of the topology.",
	operands: ["OLD", "NEW"],
	options: { json: JSON_OPTION },
};

export async function run(
	{ operands, options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [from, to] = operands.map(versionIn) as [number, number];
	await using store = openStoreForCommand(context);
	const old = await versionOf(store, from);
	const next = await versionOf(store, to);
	const changes = changesBetween(old, next);
	if (options.json !== undefined) {
		context.stdout(JSON.stringify({ from, to, changes }, null, "\t"));
	} else if (changes.length === 0) {
		context.stdout("no difference");
	} else {
		for (const change of changes) context.stdout(describeChange(change));
	}
	return 0;
}

/** A file that was edited by hand has a version that no history knows. */
async function versionOf(
	store: TopologyStore,
	version: number,
): Promise<Topology> {
	const current = await newest(store);
	if (current.version === version) return current;
	return (await requireVersion(store, version)).topology;
}
