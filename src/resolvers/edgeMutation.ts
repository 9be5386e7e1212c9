import { CorkboardError } from "../errors.ts";
import { typeNameOf } from "../graph/store/typeName.ts";
import type { RequestContext } from "../graphql/context.ts";
import { required } from "../graphql/input/readInput.ts";
import { type InputId, id } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { type MutationContext, mutation, ownId } from "./mutation.ts";
import {
	findVisible,
	notFound,
	requireVisible,
	requireVisibleOrPublic,
} from "./requireVisible.ts";
import { mappingOf } from "./storedJson.ts";

/** Two entries of resolvers, of a mapping whose name is that of the mutation that adds its edges. */
export function edgeMutations(
	mapping: string,
	remove: string,
	to: string,
	/** Options of the mutation that adds. */
	options: { readonly publicIdField?: string } = {},
) {
	return [mapping, remove].map((name) => {
		const present = name === mapping;
		const edge = { name, mapping, to, present, ...(present && options) };
		return [`Mutation.${name}`, edgeMutation(edge)] as const;
	});
}

/**
 * A mutation that adds or removes an edge from the viewer to an object: `likePin`,
 * `unfollowUser`. The viewer's edge may be removed even if the viewer does not
 * see its object any more; the payload then has nothing but the id.
 */
export function edgeMutation(edge: {
	readonly name: string;
	readonly mapping: string;
	/** The type the edge leads to. It gives the input and the payload their field names: `pinId`, `pin`. */
	readonly to: string;
	readonly present: boolean;
	/** If it is enough that a visitor may see the object: the field of the payload with its id. */
	readonly publicIdField?: string;
}): BatchResolver<RequestContext> {
	const field = edge.to.replace(/^./, (first) => first.toLowerCase());
	const argument = `${field}Id`;
	const resolver = mutation(
		{
			name: edge.name,
			input: () => ({ [argument]: required(id) }),
			// The object, and the edge to one that is hidden.
			cost: () => (edge.present ? 1 : 2),
		},
		async (input, context) => {
			const given = input[argument] ?? "reserved";
			const { graph, viewer, writes } = context;
			if (edge.present && given === viewer && isViewerOf(context, edge.to)) {
				throw ownId(edge.name, argument);
			}
			const mapping = mappingOf(graph.model, edge.mapping);
			if (!edge.present) {
				const to = await requireVisibleOrEdge(context, mapping, viewer, given);
				await writes.setEdge(mapping, viewer, to, false);
				return { [field]: to, [`removed${edge.to}Id`]: to, viewer };
			}
			const idField = edge.publicIdField;
			const find = idField ? requireVisibleOrPublic : requireVisible;
			const { id: to } = await find(context, edge.to, given);
			await writes.setEdge(mapping, viewer, to, true);
			return { [field]: to, ...(idField && { [idField]: to }), viewer };
		},
	);
	return { ...resolver, uses: { mapping: edge.mapping } };
}

/** Whether viewers are of this type. */
function isViewerOf({ graph, viewer }: MutationContext, type: string): boolean {
	return typeNameOf(graph.model, viewer) === type;
}

/** The id of the object if the viewer may see it, or if an edge leads to it from `from`, which is for the viewer to remove. */
export async function requireVisibleOrEdge(
	context: MutationContext,
	mapping: Mapping,
	from: Id,
	given: InputId,
): Promise<Id> {
	const { graph, call } = context;
	const node = await findVisible(context, mapping.to, given);
	if (node !== null) return node.id;
	if (given !== "reserved" && typeNameOf(graph.model, given) === mapping.to) {
		const [isThere] = await graph.hasEdges(mapping, from, [given], call);
		if (isThere instanceof CorkboardError) throw isThere;
		if (isThere) return given;
	}
	throw notFound(mapping.to);
}
