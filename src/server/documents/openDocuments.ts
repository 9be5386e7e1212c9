import type { RedisByName } from "../../cache/redis/redisServers.ts";
import { openRedisTexts } from "../../cache/redis/redisTexts.ts";
import type { Config } from "../../config/config.ts";
import type { Planner } from "../../plan/planner.ts";
import type { DocumentRules } from "./checkDocumentFile.ts";
import { openDocumentFiles } from "./documentFiles.ts";
import { createDocuments, type Documents } from "./documents.ts";

type Log = Parameters<typeof openDocumentFiles>[0]["log"] &
	Parameters<typeof createDocuments>[0]["log"];

interface ServerDocuments {
	readonly documents: Documents;
	/** For operators: any may run, and none of theirs is counted as unknown. */
	readonly operatorDocuments: Documents;
}

/** The documents a server knows: parsed, valid and planned before anyone asks; `resources` closes what they come from. */
export async function openDocuments(
	config: Config,
	{
		schema,
		planner,
		redis,
	}: Pick<DocumentRules, "schema"> & {
		readonly planner: Pick<Planner<never>, "analyzeWorstCaseCost" | "prepare">;
		readonly redis: RedisByName | null;
	},
	log: Log,
	resources: AsyncDisposableStack,
): Promise<ServerDocuments> {
	const { mode, files: paths } = config.persistedDocuments;
	const files =
		mode === "off"
			? null
			: resources.use(
					await openDocumentFiles({
						paths,
						rules: { schema, planner, maxCost: config.maxCost },
						prepare: ({ document }) => planner.prepare(document),
						log,
					}),
				);
	const shared =
		redis === null || mode === "strict"
			? null
			: resources.use(openRedisTexts({ redis }));
	return {
		documents: createDocuments({ mode, files, shared, log }),
		operatorDocuments: createDocuments({ mode: "off", files, shared, log }),
	};
}
