// Made by corkboard schema types from the SDL beside it. Do not edit.
import type { Id } from "corkboard";

/** What the SDL declares: `forSchema<Schema>()` holds an app against it. */
export interface Schema {
	/** Types with rows: their stored fields, their references, and what is stored by its keys. */
	objects: {
		Cook: {
			fields: {
				handle: string;
			};
			references: {
			};
			data: {
				handle?: string;
			};
		};
		ShoppingList: {
			fields: {
				name: string;
				isDone: boolean;
			};
			references: {
				owner: "Cook";
			};
			data: {
				name?: string;
				is_done?: boolean;
				cook_id?: Id;
			};
		};
		Recipe: {
			fields: {
				title: string;
				createdAt: string;
			};
			references: {
				cook: "Cook";
				cookbook: "Cookbook";
			};
			data: {
				title?: string;
				created_at?: string;
				cook_id?: Id;
				cookbook_id?: Id;
			};
		};
		Note: {
			fields: {
				body: string;
				changedAt: string | null;
			};
			references: {
				cook: "Cook";
				recipe: "Recipe";
			};
			data: {
				body?: string;
				changed_at?: string;
				cook_id?: Id;
				recipe_id?: Id;
			};
		};
		Cookbook: {
			fields: {
				name: string;
				secret: boolean;
			};
			references: {
				owner: "Cook";
			};
			data: {
				name?: string;
				secret?: boolean;
				cook_id?: Id;
			};
		};
	};
	/** Inputs of arguments. */
	inputs: {
		CookBy: {
			id?: string | null | undefined;
			handle?: string | null | undefined;
		};
		FavoriteRecipeInput: {
			recipeId: string;
		};
		UnfavoriteRecipeInput: {
			recipeId: string;
		};
		KeepListInput: {
			shoppingListId: string;
		};
		DropListInput: {
			shoppingListId: string;
		};
		CreateShoppingListInput: {
			name: string;
			isDone?: boolean | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateShoppingListInput: {
			shoppingListId: string;
			name?: string | null | undefined;
			isDone?: boolean | null | undefined;
		};
		DeleteShoppingListInput: {
			shoppingListId: string;
		};
		AddNoteInput: {
			recipeId: string;
			body: string;
			idempotencyKey?: string | null | undefined;
		};
		UpdateNoteInput: {
			noteId: string;
			body?: string | null | undefined;
		};
		DeleteNoteInput: {
			noteId: string;
		};
		CreateCookbookInput: {
			name: string;
			secret?: boolean | null | undefined;
			idempotencyKey?: string | null | undefined;
		};
		UpdateCookbookInput: {
			cookbookId: string;
			name?: string | null | undefined;
			secret?: boolean | null | undefined;
		};
		DeleteCookbookInput: {
			cookbookId: string;
		};
	};
	/** Mutations, and their inputs. */
	mutations: {
		favoriteRecipe: "FavoriteRecipeInput";
		unfavoriteRecipe: "UnfavoriteRecipeInput";
		keepList: "KeepListInput";
		dropList: "DropListInput";
		createShoppingList: "CreateShoppingListInput";
		updateShoppingList: "UpdateShoppingListInput";
		deleteShoppingList: "DeleteShoppingListInput";
		addNote: "AddNoteInput";
		updateNote: "UpdateNoteInput";
		deleteNote: "DeleteNoteInput";
		createCookbook: "CreateCookbookInput";
		updateCookbook: "UpdateCookbookInput";
		deleteCookbook: "DeleteCookbookInput";
	};
	/** Mappings: from which type, to which. */
	mappings: {
		ownRecipe: [from: "Cook", to: "Recipe"];
		ownCookbook: [from: "Cook", to: "Cookbook"];
		favoriteRecipe: [from: "Cook", to: "Recipe"];
		ownList: [from: "Cook", to: "ShoppingList"];
		keepList: [from: "Cook", to: "ShoppingList"];
		"favoriteRecipe.inverse": [from: "Recipe", to: "Cook"];
		noteRecipe: [from: "Recipe", to: "Note"];
		collectRecipe: [from: "Cookbook", to: "Recipe"];
	};
	/** Lookups: the type that each finds. */
	lookups: {
		handle: "Cook";
	};
	/** Fields that a resolver answers. */
	resolvers: {
		"Mutation.addNote": true;
		"Mutation.createCookbook": true;
		"Mutation.createShoppingList": true;
		"Mutation.deleteCookbook": true;
		"Mutation.deleteNote": true;
		"Mutation.deleteShoppingList": true;
		"Mutation.dropList": true;
		"Mutation.favoriteRecipe": true;
		"Mutation.keepList": true;
		"Mutation.unfavoriteRecipe": true;
		"Mutation.updateCookbook": true;
		"Mutation.updateNote": true;
		"Mutation.updateShoppingList": true;
		"Note.viewerCanDelete": true;
		"Query.cook": true;
		"Query.node": true;
		"Query.nodes": true;
		"Query.viewer": true;
		"Recipe.noteCount": true;
		"Recipe.viewerFavors": true;
	};
}
