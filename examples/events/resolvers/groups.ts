import {
	bothOrFirstError,
	CorkboardError,
	type Id,
	id,
	type MutationContext,
	mutation,
	oneOf,
	required,
} from "corkboard";
import {
	lookupOf,
	newStoredJson,
	referenceOf,
	requireVisible,
	updatedStoredJson,
} from "../typed.ts";

const ROLES = ["OWNER", "HOST", "MEMBER"] as const;

export const groupResolvers = {
	"Mutation.giveRole": mutation(
		{
			name: "giveRole",
			input: () => ({
				groupId: required(id),
				personId: required(id),
				role: required(oneOf(...ROLES)),
			}),
			cost: () => 4,
		},
		async ({ groupId, personId, role }, context) => {
			const { graph, viewer, writes } = context;
			const [group, person] = await bothOrFirstError(
				requireVisible(context, "Group", groupId),
				requireVisible(context, "Person", personId),
			);
			const isFounder = referenceOf(graph.model, group, "founder") === viewer;
			if (!isFounder && (await roleOf(context, group.id)) !== "OWNER") {
				throw new CorkboardError(
					"FORBIDDEN",
					"Only owners of a group may give roles in it.",
				);
			}
			const known = await membershipAt(context, group.id, person.id);
			if (known !== null) {
				await writes.modify(known, (data) =>
					updatedStoredJson(graph.model, "Membership", data, { role }),
				);
				return { membership: known, group: group.id };
			}
			return {
				membership: await writes.create({
					type: "Membership",
					data: newStoredJson(context, "Membership", {
						role,
						group: group.id,
						person: person.id,
					}),
				}),
				group: group.id,
			};
		},
	),
};

/** The viewer's role in a group; null without one. */
async function roleOf(context: MutationContext, group: Id): Promise<unknown> {
	const { graph, viewer, call } = context;
	const known = await membershipAt(context, group, viewer);
	if (known === null) return null;
	const [node = null] = await graph.readObjects([known], call);
	if (node instanceof CorkboardError) throw node;
	return node?.data.role ?? null;
}

async function membershipAt(
	{ graph, call }: MutationContext,
	group: Id,
	person: Id,
): Promise<Id | null> {
	const lookup = lookupOf(graph.model, "groupAndPerson");
	const [found = null] = await graph.lookUp(lookup, [{ group, person }], call);
	if (found instanceof CorkboardError) throw found;
	return found;
}
