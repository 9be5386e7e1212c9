import { CorkboardError } from "../../errors.ts";
import { publication, readCurrent } from "../../topology/history.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import type { Operation } from "./operations.ts";

/** How often a publication is tried anew while others publish at the same time. */
const TRIES = 20;

/** The topology that there has to be. Throws BAD_TOPOLOGY. */
export async function requireCurrent(
	store: Pick<TopologyStore, "name" | "get">,
) {
	const current = await readCurrent(store);
	if (current !== null) return current;
	throw new CorkboardError("BAD_TOPOLOGY", `${store.name} holds no topology.`);
}

/**
 * Writes an edited map, its history entry and the record's step in one write.
 * Where somebody else publishes in between, the edit is made again on what they
 * have published. Throws CONFLICT where they always do.
 */
export async function publishMap(
	store: TopologyStore,
	operation: Operation,
	why: string,
	edit: (current: Topology) => Omit<Topology, "version">,
): Promise<void> {
	for (let tries = 1; ; tries++) {
		const current = await requireCurrent(store);
		const { topology, changes } = publication(current, edit(current.topology), {
			why,
			operation: operation.record.id,
		});
		try {
			await operation.save(
				{ step: "published", version: topology.version },
				`published version ${topology.version}`,
				changes,
			);
			return;
		} catch (thrown) {
			const isOvertaken =
				thrown instanceof CorkboardError &&
				thrown.code === "CONFLICT" &&
				changes.some(({ path }) => path === thrown.details.path);
			if (!isOvertaken || tries === TRIES) throw thrown;
		}
	}
}
