import { CorkboardError } from "../../errors.ts";
import type { RequestContext } from "../../graphql/context.ts";
import { required } from "../../graphql/input/readInput.ts";
import { id } from "../../graphql/input/validators.ts";
import type { BatchResolver } from "../../plan/batchResolver.ts";
import { mutation } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";
import { mappingOf } from "./storedJson.ts";

/** A mutation that makes an edge from the viewer to an object present, or removes it: `likePin`, `unfollowUser`. */
export function edgeMutation(edge: {
	readonly name: string;
	readonly mapping: string;
	/** The type the edge leads to. The input and the payload name it too: `pinId`, `pin`. */
	readonly to: string;
	readonly present: boolean;
}): BatchResolver<RequestContext> {
	const field = edge.to.toLowerCase();
	const argument = `${field}Id`;
	return mutation(
		{
			name: edge.name,
			input: { [argument]: required(id) },
			reads: () => 1,
		},
		async (input, change) => {
			const given = input[argument] ?? "reserved";
			if (edge.to === "User" && edge.present && given === change.viewer) {
				throw new CorkboardError(
					"BAD_USER_INPUT",
					`${edge.name}: ${argument}: expected somebody else but got the viewer's own id.`,
				);
			}
			const node = await requireVisible(change, edge.to, given);
			const mapping = mappingOf(change.graph.model, edge.mapping);
			await change.writes.setEdge(
				mapping,
				change.viewer,
				node.id,
				edge.present,
			);
			return { [field]: node.id };
		},
	);
}
