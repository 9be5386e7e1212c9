import { fieldsToCreate, mutation } from "corkboard";
import { newStoredJson } from "../typed.ts";

export const venueResolvers = {
	"Mutation.createVenue": mutation(
		{
			name: "createVenue",
			input: (types) => fieldsToCreate(types, "Venue"),
			cost: () => 0,
		},
		async (input, context) => ({
			venue: await context.writes.create({
				type: "Venue",
				data: newStoredJson(context, "Venue", input),
			}),
			viewer: context.viewer,
		}),
	),
};
