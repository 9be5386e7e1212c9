// Made by corkboard schema types from the SDL beside it. Do not edit.
import type { Id } from "corkboard";

/** What the SDL declares: `forSchema<Schema>()` holds an app against it. */
export interface Schema {
	/** Types with rows: their stored fields, their references, and what is stored by its keys. */
	objects: {
		User: {
			fields: {
				username: string;
			};
			references: {
			};
			data: {
				username?: string;
			};
		};
		Note: {
			fields: {
				text: string;
				secret: boolean;
			};
			references: {
				owner: "User";
			};
			data: {
				text?: string;
				secret?: boolean;
				owner_id?: Id;
			};
		};
	};
	/** Inputs of arguments. */
	inputs: {
		UserBy: {
			id?: string | null | undefined;
			username?: string | null | undefined;
		};
		StarNoteInput: {
			noteId: string;
		};
		UnstarNoteInput: {
			noteId: string;
		};
		CreateNoteInput: {
			text: string;
			secret?: boolean | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateNoteInput: {
			noteId: string;
			text?: string | null | undefined;
			secret?: boolean | null | undefined;
		};
		DeleteNoteInput: {
			noteId: string;
		};
	};
	/** Mutations, and their inputs. */
	mutations: {
		starNote: "StarNoteInput";
		unstarNote: "UnstarNoteInput";
		createNote: "CreateNoteInput";
		updateNote: "UpdateNoteInput";
		deleteNote: "DeleteNoteInput";
	};
	/** Mappings: from which type, to which. */
	mappings: {
		ownNote: [from: "User", to: "Note"];
		starNote: [from: "User", to: "Note"];
		"starNote.inverse": [from: "Note", to: "User"];
	};
	/** Lookups: the type that each finds. */
	lookups: {
		username: "User";
	};
	/** Fields that a resolver answers. */
	resolvers: {
		"Mutation.createNote": true;
		"Mutation.deleteNote": true;
		"Mutation.starNote": true;
		"Mutation.unstarNote": true;
		"Mutation.updateNote": true;
		"Note.viewerStars": true;
		"Query.node": true;
		"Query.nodes": true;
		"Query.user": true;
		"Query.viewer": true;
	};
}
