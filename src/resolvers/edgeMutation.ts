import { typeNameOf } from "../graph/store/store.ts";
import type { RequestContext } from "../graphql/context.ts";
import { required } from "../graphql/input/readInput.ts";
import { id } from "../graphql/input/validators.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { type MutationContext, mutation, ownId } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";
import { mappingOf } from "./storedJson.ts";

/** Two entries of resolvers, of a mapping whose name is that of the mutation that adds its edges. */
export function edgeMutations(mapping: string, remove: string, to: string) {
	return [mapping, remove].map((name) => {
		const edge = { name, mapping, to, present: name === mapping };
		return [`Mutation.${name}`, edgeMutation(edge)] as const;
	});
}

/** A mutation that adds or removes an edge from the viewer to an object: `likePin`, `unfollowUser`. */
export function edgeMutation(edge: {
	readonly name: string;
	readonly mapping: string;
	/** The type the edge leads to. It gives the input and the payload their field names: `pinId`, `pin`. */
	readonly to: string;
	readonly present: boolean;
}): BatchResolver<RequestContext> {
	const field = edge.to.toLowerCase();
	const argument = `${field}Id`;
	return mutation(
		{
			name: edge.name,
			input: () => ({ [argument]: required(id) }),
			cost: () => 1,
		},
		async (input, context) => {
			const given = input[argument] ?? "reserved";
			if (
				edge.present &&
				given === context.viewer &&
				isViewerOf(context, edge.to)
			) {
				throw ownId(edge.name, argument);
			}
			const node = await requireVisible(context, edge.to, given);
			const mapping = mappingOf(context.graph.model, edge.mapping);
			await context.writes.setEdge(
				mapping,
				context.viewer,
				node.id,
				edge.present,
			);
			return { [field]: node.id, viewer: context.viewer };
		},
	);
}

/** Whether viewers are of this type. */
function isViewerOf({ graph, viewer }: MutationContext, type: string): boolean {
	return typeNameOf(graph.model, viewer) === type;
}
