import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { QueueStore } from "../queue/openedJobStore.ts";
import { openJobStoreOf } from "../queue/openJobStore.ts";
import { dataFoldersOf, queuesOf } from "../topology/ranges.ts";
import type { AccessMode } from "./openStore.ts";
import { openTopology } from "./openTopology.ts";

/** The shards of the queue, for commands. */
export interface OpenQueues extends AsyncDisposable {
	readonly store: QueueStore;
	/** As `Corkboard.topologyProblem`. */
	readonly topologyProblem: CorkboardError | null;
}

/**
 * Opens the shards of the queue and nothing else. A server may have an embedded
 * folder open meanwhile: it keeps nothing of the queue in memory that it does
 * not read again within a second. Throws BAD_TOPOLOGY if there is no queue.
 */
export async function openQueues(
	config: Config,
	access: AccessMode,
): Promise<OpenQueues> {
	await using opened = new AsyncDisposableStack();
	const source = opened.use(await openTopology(config));
	const queues = queuesOf(source.topology);
	if (queues.length === 0) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			'The topology has no queue: add "queues" with ranges of queue shards (docs/how-to/jobs.md).',
		);
	}
	const store = opened.use(
		openJobStoreOf({ queues }, { readOnly: access === "readOnly" }),
	);
	const isEmbedded = dataFoldersOf(source.topology).size > 0;
	// Asked of files alone: a host that is away is each command's own problem.
	const isMissing = isEmbedded && (await store.missingTables()).length > 0;
	if (isMissing && access === "readOnly") {
		throw new CorkboardError(
			"BAD_DATA",
			"The data folder has no queue yet. Run queues create, or start the server.",
		);
	}
	const resources = opened.move();
	return {
		store,
		topologyProblem: source.problem,
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}
