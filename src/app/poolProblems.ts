import { CorkboardError } from "../errors.ts";
import type { Topology } from "../topology/types.ts";
import { type Deadline, withDeadline } from "../util/deadline.ts";
import { openPoolsOf } from "./openPools.ts";
import { CREATE_TABLES, NAMED_TABLES } from "./reportMissingTables.ts";

/** What is wrong with the pools that the topology names, each as a sentence; they are asked for their tables. */
export async function poolProblems(
	{ pools = [] }: Topology,
	deadline: Deadline = { until: Number.POSITIVE_INFINITY },
): Promise<readonly string[]> {
	if (pools.length === 0) return [];
	await using opened = openPoolsOf(pools, { readOnly: true });
	try {
		const missing = await withDeadline(opened.missingTables(), deadline);
		if (missing.length === 0) return [];
		const named = missing.slice(0, NAMED_TABLES).join(", ");
		return [
			`${missing.length} tables of pools are missing: ${named}. Create them with ${CREATE_TABLES}.`,
		];
	} catch (error) {
		const { message } = error as Error;
		const host =
			error instanceof CorkboardError ? error.details.host : undefined;
		return [
			`The pools of home feeds do not answer${typeof host === "string" ? ` on ${host}` : ""}: ${message}`,
		];
	}
}
