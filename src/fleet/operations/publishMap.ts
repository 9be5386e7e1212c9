import type { StoreChange, TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { type Agreement, agreed } from "../map/barrier.ts";
import { existing, type Published, publish } from "../map/publish.ts";
import type { Operation } from "./operations.ts";

/** Writes wait meanwhile, so others are not let go first for ever. */
const TRIES = 20;

/** Publishes an edited map, its history entry and the record's step in one write: the point of no return of an operation. */
export async function publishMap(
	store: TopologyStore,
	operation: Operation,
	why: string,
	edit: (current: Topology) => Omit<Topology, "version">,
	/** What is written with it. */
	beside: () => Promise<readonly StoreChange[]> = async () => [],
	/** What the record says then. */
	patchOf: (version: number) => Parameters<Operation["save"]>[0] = () => ({
		step: "published",
	}),
): Promise<Published> {
	return publish(store, {
		why,
		operation: operation.record.id,
		tries: TRIES,
		edit: existing(edit),
		write: async (changes, { version }) =>
			operation.save(
				{ ...patchOf(version), version },
				`published version ${version}`,
				[...changes, ...(await beside())],
			),
	});
}

/**
 * Waits until all processes serve the map of an operation, at most `ms`. Without
 * members it does not wait: nobody is harmed who serves the map before.
 */
export async function untilServed(
	store: TopologyStore,
	{ record: { id, version } }: Pick<Operation, "record">,
	ms: number,
): Promise<Agreement> {
	if (version === null) throw new TypeError(`${id} has published no version.`);
	return agreed(store, version, ms, { byTimeMs: 0 });
}
