import { CorkboardError } from "../../../errors.ts";
import type { RequestContext } from "../../../graphql/context.ts";
import { required } from "../../../graphql/input/readInput.ts";
import { id } from "../../../graphql/input/validators.ts";
import type { BatchResolver } from "../../../plan/batchResolver.ts";
import { mutation } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";
import { mappingOf } from "./storedJson.ts";

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
			if (edge.to === "User" && edge.present && given === context.viewer) {
				throw new CorkboardError(
					"BAD_USER_INPUT",
					`${edge.name}: ${argument} must not be the viewer's own id.`,
					{
						fields: [
							{
								path: ["input", argument],
								code: "INVALID",
								message: "Choose somebody other than yourself.",
							},
						],
					},
				);
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
