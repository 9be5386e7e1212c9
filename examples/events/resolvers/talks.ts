import {
	CorkboardError,
	id,
	mutation,
	positionInput,
	required,
	requireOnList,
} from "corkboard";
import { mappingOf, referenceOf, requireVisible } from "../typed.ts";

const position = positionInput("Talk");

export const talkResolvers = {
	"Mutation.moveTalk": mutation(
		{
			name: "moveTalk",
			input: () => ({ talkId: required(id), ...position.fields }),
			validateTogether: position.problems,
			cost: (given) => 2 + position.cost(given),
		},
		async ({ talkId, ...beside }, context) => {
			const { graph, viewer, writes } = context;
			const talk = await requireVisible(context, "Talk", talkId);
			const eventId = referenceOf(graph.model, talk, "event");
			const event = await requireVisible(
				context,
				"Event",
				eventId ?? "reserved",
			);
			if (referenceOf(graph.model, event, "organizer") !== viewer) {
				throw new CorkboardError(
					"FORBIDDEN",
					"Only the organizer of an event may arrange its programme.",
				);
			}
			const neighbor = await position.neighbor(beside, context);
			requireOnList(
				"moveTalk",
				neighbor,
				(node) => node.data.event_id === event.id,
				"a talk of the same event",
			);
			if (neighbor?.node.id !== talk.id) {
				await writes.move({
					mapping: mappingOf(graph.model, "giveTalk"),
					object: talk.id,
					from: event.id,
					...(neighbor && { [neighbor.side]: neighbor.node.id }),
				});
			}
			return { talk: talk.id, event: event.id };
		},
	),
};
