import type { Corkboard } from "../app/openCorkboard.ts";
import { readConfig } from "../config/config.ts";
import { openFeedReader } from "../feed/openHomeFeeds.ts";
import type { FeedParts } from "../feed/parts.ts";
import { type CommandContext, openForCommand } from "./commandContext.ts";

/** What the commands about feeds have in common. */

export interface FeedOfCommand {
	readonly corkboard: Corkboard;
	readonly parts: FeedParts;
}

/** Opens the graph and the pools to read them. A server of an embedded data folder may run beside it. */
export async function openFeedForCommand(
	context: CommandContext,
	resources: AsyncDisposableStack,
): Promise<FeedOfCommand> {
	const config = readConfig(context.env, { secret: "unneeded" });
	const corkboard = resources.use(
		await openForCommand(context, config, "readOnly"),
	);
	const parts = await openFeedReader(config, corkboard, resources);
	return { corkboard, parts };
}

/** ISO 8601, of milliseconds since 1970; null for 0, which means never. */
export function timeOf(ms: number | null): string | null {
	return ms === null || ms === 0 ? null : new Date(ms).toISOString();
}
