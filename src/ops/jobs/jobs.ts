import type { AnyJob } from "../../queue/job.ts";
import { archive } from "./archive.ts";
import type { GraphContext } from "./graphContext.ts";
import { purgeEdges } from "./purgeEdges.ts";
import { recount } from "./recount.ts";
import { verifyShards } from "./verifyShards.ts";

/** The kinds of jobs of the engine: those of any graph. */
export const graphJobs: readonly AnyJob<GraphContext>[] = [
	archive,
	purgeEdges,
	recount,
	verifyShards,
];
