import {
	andThen,
	type BatchResolver,
	type CallOptions,
	CorkboardError,
	type Graph,
	type Node,
	nodesOf,
	type RequestContext,
} from "corkboard";
import { mappingOf, storedValue } from "../typed.ts";

/** The most saves of one pin that are shown. */
const MAX_SAVES = 10;

/** The objects that are read for a pin: itself, its owner, its board and the board's owner. */
const PIN_COST = 4;

/** One save says so, if the viewer may see it. */
export const viewerHasSaved: BatchResolver<RequestContext> = {
	// An edge and a pin.
	cost: () => 1 + PIN_COST,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve({ parents, context: { graph }, call }) {
		if (graph.viewer === null) return parents.map(() => null);
		return andThen(savesOf(graph, parents, 1, call), (saves) =>
			saves.map((pins) => {
				if (pins instanceof CorkboardError) return pins;
				const [pin] = pins;
				return pin instanceof CorkboardError ? pin : pin !== undefined;
			}),
		);
	},
};

export const viewerSaves: BatchResolver<RequestContext> = {
	// The plan counts the pins.
	cost: () => MAX_SAVES,
	maxObjects: () => MAX_SAVES,
	dependsOnViewer: true,
	resolve({ parents, context: { graph }, call }) {
		if (graph.viewer === null) return parents.map(() => null);
		return andThen(savesOf(graph, parents, MAX_SAVES, call), (saves) =>
			saves.map((pins) =>
				pins instanceof CorkboardError
					? pins
					: nodesOf(newestFirst(graph, pins)),
			),
		);
	},
};

function savesOf(
	graph: Graph,
	parents: readonly (Node | null)[],
	limit: number,
	call: CallOptions,
) {
	const pins = (parents as readonly Node[]).map(({ id }) => id);
	const mapping = mappingOf(graph.model, "savePin");
	const { viewer } = graph;
	if (viewer === null) return pins.map(() => []);
	return graph.readGroups(mapping, viewer, pins, limit, call);
}

function newestFirst(
	{ model }: Graph,
	pins: readonly (Node | CorkboardError)[],
): readonly (Node | CorkboardError)[] {
	const createdAt = (pin: Node | CorkboardError) =>
		pin instanceof CorkboardError
			? ""
			: String(storedValue(model, pin, "createdAt") ?? "");
	return pins.toSorted((a, b) => {
		const [one, other] = [createdAt(a), createdAt(b)];
		return one < other ? 1 : one > other ? -1 : 0;
	});
}
