import { join } from "node:path";
import { boolean, dateTime, forSchema, text } from "corkboard";
import { comments } from "corkboard/parts";
import type { Schema } from "./schema/types.d.ts";

const { byIdOrKey, defineApp, policy, viewerMembership } = forSchema<Schema>();

/** Cooks, their recipes and cookbooks, and what they like best. */
export default defineApp({
	schema: join(import.meta.dirname, "schema"),
	resolvers: {
		"Query.cook": byIdOrKey("cook", "handle"),
		"Recipe.viewerFavors": viewerMembership("favoriteRecipe"),
	},
	policies: policy({
		visibility: {
			types: {
				Recipe: { owner: "cook", parent: "cookbook" },
				Cookbook: {
					owner: "owner",
					decidedBy: ["secret"],
					isVisible: ({ data }, viewer) =>
						(data.secret ?? false) === false ||
						(viewer !== null && data.cook_id === viewer),
				},
			},
			privateLists: [],
		},
		placement: {
			Recipe: { colocateWith: "cookbook" },
			Cookbook: { colocateWith: "owner" },
		},
		fields: {
			Cook: { handle: { validate: text(30) } },
			Recipe: {
				title: { validate: text(100) },
				createdAt: { validate: dateTime, operatorOnly: true },
			},
			Cookbook: {
				name: { validate: text(100) },
				secret: { validate: boolean },
			},
			ShoppingList: {
				name: { validate: text(100) },
				isDone: { validate: boolean },
			},
		},
	}),
	parts: [
		comments<Schema>({
			type: "Note",
			on: "recipe",
			writer: "cook",
			text: "body",
			maxLength: 500,
			edited: "changedAt",
			deletedBy: ["recipe.cook"],
			fields: {
				count: ["Recipe.noteCount", "noteRecipe"],
				viewerCanDelete: "Note.viewerCanDelete",
			},
		}),
	],
	identity: { type: "Cook", nameLookup: "handle" },
	firstQuery:
		'{ cook(by: {handle: "ada"}) { recipes(first: 5) { nodes { title } } } }',
});
