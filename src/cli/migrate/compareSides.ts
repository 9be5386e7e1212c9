import type { Store } from "../../graph/store/store.ts";
import { createLineReader } from "../../ops/import/lineReader.ts";
import { type Comparison, compareAll } from "../../ops/migrate/compareAll.ts";
import { formatNumber } from "../../util/format.ts";
import type { CommandContext } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";
import type { OpenedMigration } from "./openMigration.ts";

interface ComparedShare {
	/** From 0 to 1. The same share is the same objects. */
	readonly share: number;
	/** Another one takes other objects. */
	readonly salt?: string;
	readonly signal: AbortSignal;
}

/** Compares objects and lists with the old database, and shows how far it is. */
export async function compareSides(
	store: Store,
	{ plans, source, fields, files }: OpenedMigration,
	context: CommandContext,
	compared: ComparedShare,
): Promise<Comparison> {
	const progress = createProgressLine(context);
	try {
		return await compareAll(store, {
			...compared,
			plans,
			source,
			reader: createLineReader(store, fields),
			refused: new Set(files.badRows.read().map(({ key }) => key)),
			onProgress: (name, objects) =>
				progress.update(`${name}: ${formatNumber(objects)} compared`),
		});
	} finally {
		progress.end();
	}
}

/** What a comparison found. */
export function comparisonLines({
	objects,
	lists,
	equal,
	differ,
	newerHere,
	bad,
	differences,
}: Comparison): readonly string[] {
	return [
		`${formatNumber(objects)} objects and ${formatNumber(lists)} lists: ${formatNumber(equal)} equal, ${formatNumber(differ)} differ, ${formatNumber(newerHere)} newer here, ${formatNumber(bad)} bad`,
		...differences.map(({ key, what }) => `  ${key}: ${what}`),
		...(differences.some(({ what }) => what === "deleted here")
			? [
					"What is deleted here and not there comes back with migrate run MAPPING --revive.",
				]
			: []),
	];
}
