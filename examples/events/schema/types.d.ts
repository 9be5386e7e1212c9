// Made by corkboard schema types from the SDL beside it. Do not edit.
import type { Id } from "corkboard";

/** What the SDL declares: `forSchema<Schema>()` holds an app against it. */
export interface Schema {
	/** Types with rows: their stored fields, their references, and what is stored by its keys. */
	objects: {
		Person: {
			fields: {
				handle: string;
			};
			references: {
			};
			data: {
				handle?: string;
			};
		};
		Group: {
			fields: {
				slug: string;
				name: string;
			};
			references: {
				founder: "Person";
			};
			data: {
				slug?: string;
				name?: string;
				founder_id?: Id;
			};
		};
		Membership: {
			fields: {
				role: "OWNER" | "HOST" | "MEMBER";
			};
			references: {
				person: "Person";
				group: "Group";
			};
			data: {
				role?: "OWNER" | "HOST" | "MEMBER";
				person_id?: Id;
				group_id?: Id;
			};
		};
		Venue: {
			fields: {
				city: string;
				name: string;
			};
			references: {
			};
			data: {
				city?: string;
				name?: string;
			};
		};
		Event: {
			fields: {
				title: string;
				startsAt: string;
				createdAt: string;
				secret: boolean;
			};
			references: {
				organizer: "Person";
				group: "Group";
				venue: "Venue";
			};
			data: {
				title?: string;
				starts_at?: string;
				created_at?: string;
				secret?: boolean;
				organizer_id?: Id;
				group_id?: Id;
				venue_id?: Id;
			};
		};
		Attendance: {
			fields: {
				state: "GOING" | "MAYBE" | "DECLINED" | "ATTENDED";
			};
			references: {
				person: "Person";
				event: "Event";
			};
			data: {
				answer?: "GOING" | "MAYBE" | "DECLINED" | "ATTENDED";
				person_id?: Id;
				event_id?: Id;
			};
		};
		Talk: {
			fields: {
				title: string;
			};
			references: {
				event: "Event";
				speaker: "Person";
			};
			data: {
				title?: string;
				event_id?: Id;
				speaker_id?: Id;
			};
		};
		Question: {
			fields: {
				text: string;
			};
			references: {
				author: "Person";
				event: "Event";
			};
			data: {
				text?: string;
				author_id?: Id;
				event_id?: Id;
			};
		};
		Topic: {
			fields: {
				name: string;
			};
			references: {
			};
			data: {
				name?: string;
			};
		};
		Ticket: {
			fields: {
				seat: string;
			};
			references: {
				holder: "Person";
				event: "Event";
			};
			data: {
				seat?: string;
				holder_id?: Id;
				event_id?: Id;
			};
		};
	};
	/** Inputs of arguments. */
	inputs: {
		PersonBy: {
			id?: string | null | undefined;
			handle?: string | null | undefined;
		};
		GroupBy: {
			id?: string | null | undefined;
			slug?: string | null | undefined;
		};
		VenueBy: {
			id?: string | null | undefined;
			cityAndName?: Schema["inputs"]["CityAndNameInput"] | null | undefined;
		};
		CityAndNameInput: {
			city: string;
			name: string;
		};
		TicketBy: {
			id?: string | null | undefined;
			eventAndSeat?: Schema["inputs"]["EventAndSeatInput"] | null | undefined;
		};
		EventAndSeatInput: {
			event: string;
			seat: string;
		};
		RefreshFeedInput: {
			personId: string;
		};
		HideFromFeedInput: {
			eventId: string;
		};
		CreateEventInput: {
			startsAt?: string | null | undefined;
			groupId: string;
			title: string;
			secret?: boolean | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateEventInput: {
			startsAt?: string | null | undefined;
			eventId: string;
			title?: string | null | undefined;
			secret?: boolean | null | undefined;
		};
		CreateVenueInput: {
			city: string;
			name: string;
		};
		AnswerEventInput: {
			eventId: string;
			state: "GOING" | "MAYBE" | "DECLINED" | "ATTENDED";
		};
		GiveRoleInput: {
			groupId: string;
			personId: string;
			role: "OWNER" | "HOST" | "MEMBER";
		};
		FollowPersonInput: {
			personId: string;
		};
		UnfollowPersonInput: {
			personId: string;
		};
		FollowGroupInput: {
			groupId: string;
		};
		UnfollowGroupInput: {
			groupId: string;
		};
		SaveEventInput: {
			eventId: string;
		};
		UnsaveEventInput: {
			eventId: string;
		};
		BlockPersonInput: {
			personId: string;
		};
		UnblockPersonInput: {
			personId: string;
		};
		CreateGroupInput: {
			slug: string;
			name: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateGroupInput: {
			groupId: string;
			slug?: string | null | undefined;
			name?: string | null | undefined;
		};
		DeleteGroupInput: {
			groupId: string;
		};
		DeleteEventInput: {
			eventId: string;
		};
		MoveTalkInput: {
			talkId: string;
			beforeTalkId?: string | null | undefined;
			afterTalkId?: string | null | undefined;
		};
		FileEventInput: {
			eventId: string;
			topicId: string;
		};
		UnfileEventInput: {
			eventId: string;
			topicId: string;
		};
		InvitePersonInput: {
			eventId: string;
			personId: string;
		};
		UninvitePersonInput: {
			eventId: string;
			personId: string;
		};
		CreateTalkInput: {
			eventId: string;
			title: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateTalkInput: {
			talkId: string;
			title?: string | null | undefined;
		};
		DeleteTalkInput: {
			talkId: string;
		};
		CreateQuestionInput: {
			eventId: string;
			text: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateQuestionInput: {
			questionId: string;
			text?: string | null | undefined;
		};
		DeleteQuestionInput: {
			questionId: string;
		};
		CreateTicketInput: {
			eventId: string;
			seat: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateTicketInput: {
			ticketId: string;
			seat?: string | null | undefined;
		};
		DeleteTicketInput: {
			ticketId: string;
		};
	};
	/** Mutations, and their inputs. */
	mutations: {
		createVenue: "CreateVenueInput";
		answerEvent: "AnswerEventInput";
		giveRole: "GiveRoleInput";
		refreshFeed: "RefreshFeedInput";
		hideFromFeed: "HideFromFeedInput";
		followPerson: "FollowPersonInput";
		unfollowPerson: "UnfollowPersonInput";
		followGroup: "FollowGroupInput";
		unfollowGroup: "UnfollowGroupInput";
		saveEvent: "SaveEventInput";
		unsaveEvent: "UnsaveEventInput";
		blockPerson: "BlockPersonInput";
		unblockPerson: "UnblockPersonInput";
		createGroup: "CreateGroupInput";
		updateGroup: "UpdateGroupInput";
		deleteGroup: "DeleteGroupInput";
		createEvent: "CreateEventInput";
		updateEvent: "UpdateEventInput";
		deleteEvent: "DeleteEventInput";
		moveTalk: "MoveTalkInput";
		fileEvent: "FileEventInput";
		unfileEvent: "UnfileEventInput";
		invitePerson: "InvitePersonInput";
		uninvitePerson: "UninvitePersonInput";
		createTalk: "CreateTalkInput";
		updateTalk: "UpdateTalkInput";
		deleteTalk: "DeleteTalkInput";
		createQuestion: "CreateQuestionInput";
		updateQuestion: "UpdateQuestionInput";
		deleteQuestion: "DeleteQuestionInput";
		createTicket: "CreateTicketInput";
		updateTicket: "UpdateTicketInput";
		deleteTicket: "DeleteTicketInput";
	};
	/** Mappings: from which type, to which. */
	mappings: {
		followPerson: [from: "Person", to: "Person"];
		"followPerson.inverse": [from: "Person", to: "Person"];
		followGroup: [from: "Person", to: "Group"];
		ownMembership: [from: "Person", to: "Membership"];
		ownEvent: [from: "Person", to: "Event"];
		ownAttendance: [from: "Person", to: "Attendance"];
		"invite.inverse": [from: "Person", to: "Event"];
		saveEvent: [from: "Person", to: "Event"];
		ownTicket: [from: "Person", to: "Ticket"];
		blockPerson: [from: "Person", to: "Person"];
		"blockPerson.inverse": [from: "Person", to: "Person"];
		showEvent: [from: "Person", to: "Event"];
		haveMembership: [from: "Group", to: "Membership"];
		hostEvent: [from: "Group", to: "Event"];
		scheduleEvent: [from: "Group", to: "Event"];
		"followGroup.inverse": [from: "Group", to: "Person"];
		takePlace: [from: "Venue", to: "Event"];
		giveTalk: [from: "Event", to: "Talk"];
		haveAttendance: [from: "Event", to: "Attendance"];
		haveQuestion: [from: "Event", to: "Question"];
		fileEvent: [from: "Event", to: "Topic"];
		invite: [from: "Event", to: "Person"];
		sellTicket: [from: "Event", to: "Ticket"];
		"fileEvent.inverse": [from: "Topic", to: "Event"];
	};
	/** Lookups: the type that each finds. */
	lookups: {
		handle: "Person";
		slug: "Group";
		groupAndPerson: "Membership";
		cityAndName: "Venue";
		eventAndPerson: "Attendance";
		topic: "Topic";
		eventAndSeat: "Ticket";
	};
	/** Fields that a resolver answers. */
	resolvers: {
		"Event.viewerAttendance": true;
		"Mutation.answerEvent": true;
		"Mutation.blockPerson": true;
		"Mutation.createEvent": true;
		"Mutation.createGroup": true;
		"Mutation.createQuestion": true;
		"Mutation.createTalk": true;
		"Mutation.createTicket": true;
		"Mutation.createVenue": true;
		"Mutation.deleteEvent": true;
		"Mutation.deleteGroup": true;
		"Mutation.deleteQuestion": true;
		"Mutation.deleteTalk": true;
		"Mutation.deleteTicket": true;
		"Mutation.fileEvent": true;
		"Mutation.followGroup": true;
		"Mutation.followPerson": true;
		"Mutation.giveRole": true;
		"Mutation.hideFromFeed": true;
		"Mutation.invitePerson": true;
		"Mutation.moveTalk": true;
		"Mutation.refreshFeed": true;
		"Mutation.saveEvent": true;
		"Mutation.unblockPerson": true;
		"Mutation.unfileEvent": true;
		"Mutation.unfollowGroup": true;
		"Mutation.unfollowPerson": true;
		"Mutation.uninvitePerson": true;
		"Mutation.unsaveEvent": true;
		"Mutation.updateEvent": true;
		"Mutation.updateGroup": true;
		"Mutation.updateQuestion": true;
		"Mutation.updateTalk": true;
		"Mutation.updateTicket": true;
		"Person.feedWaiting": true;
		"Query.event": true;
		"Query.group": true;
		"Query.node": true;
		"Query.nodes": true;
		"Query.person": true;
		"Query.ticket": true;
		"Query.venue": true;
		"Query.viewer": true;
	};
}
