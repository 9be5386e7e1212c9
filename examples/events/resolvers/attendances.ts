import {
	andThen,
	CorkboardError,
	type Id,
	id,
	type MutationContext,
	mutation,
	type Node,
	oneOf,
	required,
	resolver,
} from "corkboard";
import {
	lookupOf,
	newStoredJson,
	requireVisible,
	updatedStoredJson,
} from "../typed.ts";

const STATES = ["GOING", "MAYBE", "DECLINED", "ATTENDED"] as const;
type State = (typeof STATES)[number];

export const attendanceResolvers = {
	"Mutation.answerEvent": mutation(
		{
			name: "answerEvent",
			input: () => ({
				eventId: required(id),
				state: required(oneOf(...STATES)),
			}),
			cost: () => 2,
		},
		async ({ eventId, state }, context) => {
			const event = await requireVisible(context, "Event", eventId);
			return {
				attendance: await answer(context, event.id, state),
				event: event.id,
				viewer: context.viewer,
			};
		},
	),
	"Event.viewerAttendance": resolver({
		cost: () => 1,
		dependsOnViewer: true,
		resolve({ parents, context: { graph, viewer }, call }) {
			if (viewer === null) return parents.map(() => null);
			const keys = (parents as readonly Node[]).map((event) => ({
				event: event.id,
				person: viewer,
			}));
			const lookup = lookupOf(graph.model, "eventAndPerson");
			return andThen(graph.lookUp(lookup, keys, call), (found) => found);
		},
	}),
};

/** Changes the answer that is there, or makes one. Two at the same time make one: its key is unique. */
async function answer(
	context: MutationContext,
	event: Id,
	state: State,
): Promise<Id> {
	const known = await find(context, event);
	if (known !== null) return change(context, known, state);
	try {
		return await context.writes.create({
			type: "Attendance",
			data: newStoredJson(context, "Attendance", {
				state,
				event,
				person: context.viewer,
			}),
		});
	} catch (error) {
		const isTaken =
			error instanceof CorkboardError && error.code === "CONFLICT";
		const made = isTaken ? await find(context, event) : null;
		if (made === null) throw error;
		return change(context, made, state);
	}
}

async function find(
	{ graph, viewer, call }: MutationContext,
	event: Id,
): Promise<Id | null> {
	const lookup = lookupOf(graph.model, "eventAndPerson");
	const keys = [{ event, person: viewer }];
	const [found = null] = await graph.lookUp(lookup, keys, call);
	if (found instanceof CorkboardError) throw found;
	return found;
}

async function change(
	{ graph, writes }: MutationContext,
	attendance: Id,
	state: State,
): Promise<Id> {
	await writes.modify(attendance, (data) =>
		updatedStoredJson(graph.model, "Attendance", data, { state }),
	);
	return attendance;
}
