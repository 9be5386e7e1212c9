import {
	andThen,
	CorkboardError,
	mutation,
	parseId,
	required,
	rootField,
	text,
} from "corkboard";
import { keyOfPlace } from "../keys.ts";
import type { Schema } from "../schema/types.d.ts";
import { lookupOf, newStoredJson } from "../typed.ts";

type VenueBy = Schema["inputs"]["VenueBy"];

export const venueResolvers = {
	"Query.venue": rootField({
		cost: () => 0,
		dependsOnViewer: false,
		resolve(args, { graph }, call) {
			const { id, place } = args.by as VenueBy;
			if (id) {
				const parsed = parseId(id);
				if (parsed === "malformed") {
					throw new CorkboardError("BAD_USER_INPUT", "venue: by.id is no id.");
				}
				return parsed === "reserved" ? null : parsed;
			}
			if (!place) return null;
			const key = keyOfPlace(place.city.trim(), place.name.trim());
			return andThen(
				graph.lookUp(lookupOf(graph.model, "cityAndName"), [key], call),
				([found]) => found ?? null,
			);
		},
	}),
	"Mutation.createVenue": mutation(
		{
			name: "createVenue",
			input: () => ({
				city: required(text(100)),
				name: required(text(100)),
			}),
			cost: () => 0,
		},
		async (input, context) => ({
			venue: await context.writes.create({
				type: "Venue",
				data: newStoredJson(context, "Venue", {
					...input,
					cityAndName: keyOfPlace(input.city, input.name),
				}),
			}),
			viewer: context.viewer,
		}),
	),
};
