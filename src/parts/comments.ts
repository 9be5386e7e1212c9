import type { Part } from "../app/defineApp.ts";
import type {
	MappingName,
	Name,
	PartOf,
	References,
	SchemaTypes,
	Stored,
	TypeOf,
} from "../app/forSchema.ts";
import type { RequestContext } from "../graphql/context.ts";
import { required } from "../graphql/input/readInput.ts";
import { type InputId, id } from "../graphql/input/validators.ts";
import { words } from "../model/expand/expandPages.ts";
import { text } from "../model/validation.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { fieldsToCreate } from "../resolvers/fieldInputs.ts";
import { listCount } from "../resolvers/listCount.ts";
import { mutation } from "../resolvers/mutation.ts";
import { byId } from "../resolvers/nodeResolvers.ts";
import {
	type Rule,
	requireByRule,
	rightByRule,
	viewerMayByRule,
} from "../resolvers/rules.ts";
import { updatedStoredJson } from "../resolvers/storedJson.ts";

/** The names that comments have in an app. Its SDL has the type, with `@mutations(owner:, in:)`, and the list. */
export type CommentsOptions<S extends SchemaTypes> = {
	readonly [T in TypeOf<S>]: {
		/** The type of a comment. */
		readonly type: T;
		/** The reference to what a comment is on: who sees that sees the comment. */
		readonly on: Name<References<S, T>>;
		/** The reference to the viewer who writes a comment. */
		readonly writer: Name<References<S, T>>;
		/** The stored field with what is written. */
		readonly text: Name<Stored<S, T>>;
		/** The most characters of it; 2,000 if absent. */
		readonly maxLength?: number;
		/** The stored field with the time of the last change of the text. Without it that is not kept. */
		readonly edited?: Name<Stored<S, T>>;
		/** Who may delete a comment besides its writer: paths of references that lead to users, as `pin.owner`. */
		readonly deletedBy?: readonly string[];
		/** The message for those who may not. */
		readonly refusal?: string;
		/** Fields that the SDL has for comments, as `Type.field`. */
		readonly fields?: {
			/** The field of Query for a comment by its id. */
			readonly byId?: Name<S["resolvers"]>;
			/** How many there are: of what the comments are on. */
			readonly count?: readonly [Name<S["resolvers"]>, list: MappingName<S>];
			/** Whether the viewer may change a comment. */
			readonly viewerCanUpdate?: Name<S["resolvers"]>;
			readonly viewerCanDelete?: Name<S["resolvers"]>;
		};
	};
}[TypeOf<S>];

/**
 * Comments, with the names of an app. Who sees what a comment is on sees it, beside
 * which it is stored. Its writer changes it, if the writer sees it; the writer and
 * those of `deletedBy` delete it, even if a block hides it from them.
 */
export function comments<S extends SchemaTypes>({
	type,
	on,
	writer,
	text: field,
	maxLength = 2_000,
	edited,
	deletedBy = [],
	refusal,
	fields: { byId: one, count, viewerCanUpdate, viewerCanDelete } = {},
}: CommentsOptions<S>): PartOf<S> {
	const noun = words(type);
	const update: Rule = {
		users: [writer],
		refusal: `Only its ${words(writer)} may change this ${noun}.`,
	};
	const remove: Rule = {
		users: [writer, ...deletedBy],
		evenIfHidden: true,
		refusal:
			refusal ??
			`Only ${[writer, ...deletedBy].map(whose).join(" or ")} may delete this ${noun}.`,
	};
	const resolvers = new Map<string, BatchResolver<RequestContext>>();
	if (one) resolvers.set(one, byId(one.slice(one.indexOf(".") + 1)));
	if (count) resolvers.set(count[0], listCount(count[1]));
	if (viewerCanUpdate) resolvers.set(viewerCanUpdate, viewerMayByRule(update));
	if (viewerCanDelete) resolvers.set(viewerCanDelete, viewerMayByRule(remove));
	if (edited) {
		resolvers.set(`Mutation.update${type}`, updating(type, edited, update));
	}
	const part: Part = {
		resolvers,
		policies: {
			visibility: { types: { [type]: { parent: on, owner: writer } } },
			placement: { [type]: { colocateWith: on } },
			fields: { [type]: { [field]: { validate: text(maxLength) } } },
			rights: {
				[type]: {
					update: rightByRule(type, update),
					delete: rightByRule(type, remove),
				},
			},
		},
	};
	// The names are those of the options, which TypeScript has checked.
	return part as unknown as PartOf<S>;
}

/** `its recipe's cook` */
function whose(path: string): string {
	return `its ${path.split(".").map(words).join("'s ")}`;
}

/** An update to the same text is none: the time of the last one stays. */
function updating(
	type: string,
	edited: string,
	rule: Rule,
): BatchResolver<RequestContext> {
	const answer = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
	const idField = `${answer}Id`;
	return mutation(
		{
			name: `update${type}`,
			input: (types) => ({
				[idField]: required(id),
				...fieldsToCreate(types, type),
			}),
			cost: () => 1,
		},
		async ({ [idField]: given = "reserved", ...fields }, context) => {
			const { model } = context.graph;
			const found = await requireByRule(context, type, rule, given as InputId);
			await context.writes.modify(
				found.id,
				(data) =>
					updatedStoredJson(model, type, data, fields) &&
					updatedStoredJson(model, type, data, {
						...fields,
						[edited]: context.now.toISOString(),
					}),
			);
			return { [answer]: found.id, viewer: context.viewer };
		},
	);
}
