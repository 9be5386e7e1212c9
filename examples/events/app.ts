import { join } from "node:path";
import {
	boolean,
	byId,
	dateTime,
	type FieldsOf,
	forSchema,
	oneOf,
	text,
	type Validator,
} from "corkboard";
import { feed } from "corkboard/parts";
import { demo } from "./demo.ts";
import { attendanceResolvers } from "./resolvers/attendances.ts";
import { groupResolvers } from "./resolvers/groups.ts";
import { venueResolvers } from "./resolvers/venues.ts";
import type { Schema } from "./schema/types.d.ts";

const { byIdOrKey, defineApp } = forSchema<Schema>();

const SLUG = /^[a-z0-9-]{1,60}$/;
const slug: Validator<string> = (given) => {
	const result = text(60)(given);
	if ("problems" in result || result.value === null) return result;
	return SLUG.test(result.value)
		? result
		: { problems: [{ path: "", message: "must be letters, digits and -" }] };
};

/** What the stored fields may hold. */
const fields: FieldsOf<Schema> = {
	Person: { handle: { validate: text(30) } },
	Group: { slug: { validate: slug }, name: { validate: text(100) } },
	Membership: { role: { validate: oneOf("OWNER", "HOST", "MEMBER") } },
	Venue: { city: { validate: text(100) }, name: { validate: text(100) } },
	Event: {
		title: { validate: text(100) },
		startsAt: { validate: dateTime },
		createdAt: { validate: dateTime, operatorOnly: true },
		secret: { validate: boolean },
	},
	Attendance: {
		state: { validate: oneOf("GOING", "MAYBE", "DECLINED", "ATTENDED") },
	},
	Talk: { title: { validate: text(100) } },
	Question: { text: { validate: text(1_000) } },
	Topic: { name: { validate: text(60) } },
	Ticket: { seat: { validate: text(20) } },
};

/** People, groups, and the events that they go to. */
export default defineApp({
	schema: join(import.meta.dirname, "schema"),
	resolvers: {
		"Query.person": byIdOrKey("person", "handle"),
		"Query.group": byIdOrKey("group", "slug"),
		"Query.event": byId("event"),
		"Query.venue": byIdOrKey("venue", "cityAndName"),
		"Query.ticket": byIdOrKey("ticket", "eventAndSeat"),
		...venueResolvers,
		...attendanceResolvers,
		...groupResolvers,
	},
	policies: {
		visibility: {
			types: {
				Membership: { parent: "group", owner: "person" },
				Event: {
					owner: "organizer",
					decidedBy: ["secret"],
					sharedBy: "invite.inverse",
					isVisible: ({ data }, viewer) =>
						(data.secret ?? false) === false ||
						(viewer !== null && data.organizer_id === viewer),
				},
				Attendance: { parent: "event", owner: "person" },
				Talk: { parent: "event", owner: "speaker" },
				Question: { parent: "event", owner: "author" },
				Ticket: {
					parent: "event",
					owner: "holder",
					isVisible: ({ data }, viewer) =>
						viewer !== null && data.holder_id === viewer,
				},
			},
			privateLists: [
				"saveEvent",
				"ownTicket",
				"sellTicket",
				"invite.inverse",
				"blockPerson",
				"blockPerson.inverse",
			],
			hides: { blockPerson: "belongings", "blockPerson.inverse": "user" },
		},
		placement: {
			Membership: { colocateWith: "group" },
			Attendance: { colocateWith: "event" },
			Talk: { colocateWith: "event" },
			Question: { colocateWith: "event" },
			Ticket: { colocateWith: "holder" },
			Topic: { modShardOf: "name" },
		},
		fields,
		createdAtField: "createdAt",
	},
	identity: { type: "Person", nameLookup: "handle" },
	parts: [
		feed<Schema>({
			reader: "Person",
			item: "Event",
			list: "showEvent",
			owner: "organizer",
			from: [
				{ name: "person", follow: "followPerson", items: "ownEvent" },
				{ name: "group", follow: "followGroup", items: "hostEvent" },
			],
			fields: {
				waiting: "Person.feedWaiting",
				refresh: "Mutation.refreshFeed",
				hide: "Mutation.hideFromFeed",
			},
		}),
	],
	firstQuery:
		'{ person(by: {handle: "ada"}) { events(first: 5) { nodes { title } } } }',
	demo,
});
