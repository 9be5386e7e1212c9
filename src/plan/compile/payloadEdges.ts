import type { PageEdge } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { FieldSource, Mapping } from "../../model/types.ts";
import { andThen } from "../../util/maybePromise.ts";
import type { BatchResolver } from "../batchResolver.ts";

/**
 * The resolver of a field with `@edge`. Its parents are payloads, which hold the
 * ids of both ends. It reads an edge; the plan counts the edge's object.
 */
export function payloadEdges(
	mapping: Mapping,
	{ from, to }: Extract<FieldSource, { kind: "payloadEdge" }>,
): BatchResolver<unknown> {
	return {
		cost: () => 1,
		dependsOnViewer: true,
		resolve({ parents, context: { graph }, call }) {
			const payloads: readonly unknown[] = parents;
			const ends = payloads.map((payload) => {
				const ids = payload as Readonly<Record<string, Id | null | undefined>>;
				const [owner, object] = [ids[from], ids[to]];
				return owner && object ? { from: owner, to: object } : null;
			});
			const given = ends.filter((one) => one !== null);
			return andThen(graph.readEdges(mapping, given, call), (edges) => {
				const byEnds = new Map(given.map((one, at) => [one, edges[at]]));
				return ends.map((one): PageEdge | Error | null =>
					one === null ? null : (byEnds.get(one) ?? null),
				);
			});
		},
	};
}
