import { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import { optional, required } from "../graphql/input/readInput.ts";
import {
	type InputId,
	id,
	idempotencyKey,
} from "../graphql/input/validators.ts";
import type {
	DeclaredList,
	DeclaredMutation,
} from "../model/expand/expandMutations.ts";
import { article, words } from "../model/expand/expandPages.ts";
import type { BatchResolver, Resolvers } from "../plan/batchResolver.ts";
import type { JsonObject } from "../util/json.ts";
import { edgeMutation, requireVisibleOrEdge } from "./edgeMutation.ts";
import { fieldsToCreate, fieldsToUpdate } from "./fieldInputs.ts";
import {
	idempotency,
	invalidField,
	type MutationContext,
	mutation,
} from "./mutation.ts";
import { positionInput, requireOnList } from "./position.ts";
import {
	bothOrFirstError,
	notFound,
	requireVisible,
} from "./requireVisible.ts";
import {
	mappingOf,
	newStoredJson,
	referenceOf,
	updatedStoredJson,
} from "./storedJson.ts";

/** Finds the object of an id if the viewer may do something with it. Throws NOT_FOUND or FORBIDDEN if not. */
export interface Right {
	require(context: MutationContext, id: InputId): Promise<Node>;
	/** The most objects and edges that `require` reads. */
	readonly cost: number;
}

/** Who may use the mutations of a type. */
export interface TypeRights {
	/** With the object in which a new one is created. Without it: who sees that object. */
	readonly create?: Right;
	/** Without it: the object's owner, if the viewer sees the object. */
	readonly update?: Right;
	/** Without it: as for `update`. */
	readonly delete?: Right;
	/** To another place of a list of another object, which follows a reference. Without it: who may update the owner of the list. */
	readonly move?: Right;
}

/** By type. */
export type Rights = Readonly<Record<string, TypeRights>>;

/** The resolvers of the mutations that the SDL declares. `createdAt`: the stored field with the time of a new object. */
export function declaredMutations(
	declared: readonly DeclaredMutation[],
	createdAt: string | null,
	rights: Rights = {},
): Resolvers<RequestContext> {
	return new Map(
		declared.map((each) => [
			`Mutation.${each.name}`,
			resolverOf(each, createdAt, rights),
		]),
	);
}

function resolverOf(
	declared: DeclaredMutation,
	createdAt: string | null,
	rights: Rights,
): BatchResolver<RequestContext> {
	switch (declared.kind) {
		case "add":
		case "remove": {
			const { list, kind, ...edge } = declared;
			const present = kind === "add";
			return list === null
				? edgeMutation({ ...edge, present })
				: edgeOfList({ ...edge, present }, list, updateOf(list, rights));
		}
		case "move":
			return moveMutation(declared, rights);
		case "create":
			return createMutation(declared, createdAt, rights[declared.type]?.create);
		case "update":
			return updateMutation(declared, rights[declared.type]?.update);
		case "delete":
			return deleteMutation(declared, rights[declared.type]?.delete);
	}
}

type Declared<Kind extends DeclaredMutation["kind"]> = Extract<
	DeclaredMutation,
	{ readonly kind: Kind }
>;

/** What was given, by field. */
type Values = Record<string, JsonObject[string] | undefined>;

function createMutation(
	{ name, type, owner, in: inside, inType }: Declared<"create">,
	createdAt: string | null,
	right: Right = {
		require: (context, given) => requireVisible(context, inType, given),
		cost: 1,
	},
): BatchResolver<RequestContext> {
	const insideId = `${inside}Id`;
	return mutation(
		{
			name,
			input: (types) => ({
				...(inside !== null && { [insideId]: required(id) }),
				...fieldsToCreate(types, type),
				idempotencyKey: optional(idempotencyKey),
			}),
			cost: () => (inside === null ? 0 : right.cost),
		},
		async (input, context) => {
			const { idempotencyKey: _, ...values }: Values = input;
			const insideGiven = values[insideId] as InputId;
			delete values[insideId];
			const { model } = context.graph;
			const place =
				inside === null
					? {}
					: { [inside]: (await right.require(context, insideGiven)).id };
			const stored = model.objects.get(type)?.stored ?? [];
			const hasTime = stored.some(({ field }) => field === createdAt);
			return {
				[fieldOf(type)]: await context.writes.create({
					type,
					data: newStoredJson(context, type, {
						...values,
						...(createdAt !== null &&
							hasTime && { [createdAt]: context.now.toISOString() }),
						...(owner !== null && { [owner]: context.viewer }),
						...place,
					}),
					...idempotency(name, context.viewer, input),
				}),
				...place,
				viewer: context.viewer,
			};
		},
	);
}

function updateMutation(
	{ name, type, owner }: Declared<"update">,
	right: Right = ofOwner(type, owner),
): BatchResolver<RequestContext> {
	const field = fieldOf(type);
	const idField = `${field}Id`;
	return mutation(
		{
			name,
			input: (types) => ({
				[idField]: required(id),
				...fieldsToUpdate(types, type),
			}),
			cost: () => right.cost,
		},
		async (input, context) => {
			const { [idField]: given = "reserved", ...changes } = input;
			const node = await right.require(context, given as InputId);
			await context.writes.modify(node.id, (data) =>
				updatedStoredJson(context.graph.model, type, data, changes),
			);
			return { [field]: node.id, viewer: context.viewer };
		},
	);
}

function deleteMutation(
	{ name, type, owner, in: inside }: Declared<"delete">,
	right: Right = ofOwner(type, owner),
): BatchResolver<RequestContext> {
	const idField = `${fieldOf(type)}Id`;
	return mutation(
		{
			name,
			input: () => ({ [idField]: required(id) }),
			cost: () => right.cost,
			maxObjects: 0,
		},
		async (input, context) => {
			const given = input[idField] ?? "reserved";
			const node = await right.require(context, given);
			await context.writes.remove(node.id);
			return {
				[`deleted${type}Id`]: node.id,
				...(inside !== null && {
					[inside]: referenceOf(context.graph.model, node, inside),
				}),
				viewer: context.viewer,
			};
		},
	);
}

/** Adds an object to the list of another one, or removes it. A user who may change the list may also remove what is hidden. */
function edgeOfList(
	edge: Pick<
		Extract<DeclaredMutation, { readonly field: string }>,
		"name" | "mapping" | "to" | "field"
	> & { readonly present: boolean },
	{ field: ownerField }: DeclaredList,
	right: Right,
): BatchResolver<RequestContext> {
	const { name, to, field, present } = edge;
	const ownerId = `${ownerField}Id`;
	const endId = `${field}Id`;
	return mutation(
		{
			name,
			input: () => ({ [ownerId]: required(id), [endId]: required(id) }),
			// The object, and the edge to one that is hidden.
			cost: () => right.cost + (present ? 1 : 2),
			maxObjects: 2,
		},
		async (input, context) => {
			const mapping = mappingOf(context.graph.model, edge.mapping);
			const given = input[endId] ?? "reserved";
			const asked = right.require(context, input[ownerId] ?? "reserved");
			const [owner, end] = present
				? await bothOrFirstError(asked, requireVisible(context, to, given))
				: [await asked, null];
			if (end?.id === owner.id) throw itself(name, endId, to);
			const endOf =
				end?.id ??
				(await requireVisibleOrEdge(context, mapping, owner.id, given));
			await context.writes.setEdge(mapping, owner.id, endOf, present);
			return {
				[ownerField]: owner.id,
				[field]: endOf,
				...(!present && {
					[removedId(field)]: endOf,
					[removedId(ownerField)]: owner.id,
				}),
				viewer: context.viewer,
			};
		},
	);
}

function itself(name: string, field: string, type: string): CorkboardError {
	const one = words(type);
	return invalidField(
		name,
		field,
		`be another ${one}`,
		`Choose another ${one}.`,
	);
}

/** `removedPinId` */
function removedId(field: string): string {
	return `removed${field.charAt(0).toUpperCase()}${field.slice(1)}Id`;
}

/** Moves an object within the list that follows one of its references. */
function moveMutation(
	{ name, mapping, type, reference, list }: Declared<"move">,
	rights: Rights,
): BatchResolver<RequestContext> {
	// The right to move within the list of another object is none to move within a user's own list.
	const right =
		list === null
			? ofOwner(type, reference)
			: (rights[type]?.move ?? onList(type, reference, updateOf(list, rights)));
	const position = positionInput(type);
	const field = fieldOf(type);
	const idField = `${field}Id`;
	return mutation(
		{
			name,
			input: () => ({ [idField]: required(id), ...position.fields }),
			validateTogether: position.problems,
			cost: (given) => right.cost + position.cost(given),
		},
		async ({ [idField]: given = "reserved", ...beside }, context) => {
			const { model } = context.graph;
			const [node, neighbor] = await bothOrFirstError(
				right.require(context, given as InputId),
				position.neighbor(beside, context),
			);
			const from = referenceOf(model, node, reference);
			if (from === null) throw notFound(list?.type ?? null);
			requireOnList(
				name,
				neighbor,
				(other) => referenceOf(model, other, reference) === from,
				`${article(words(type))} of the ${list === null ? "viewer" : `same ${words(reference)}`}`,
			);
			// What is moved beside itself stays where it is.
			if (neighbor?.node.id !== node.id) {
				await context.writes.move({
					mapping: mappingOf(model, mapping),
					object: node.id,
					from,
					...(neighbor && { [neighbor.side]: neighbor.node.id }),
				});
			}
			return { [field]: node.id, [list === null ? "viewer" : reference]: from };
		},
	);
}

/** To change an object whose list it is. */
function updateOf({ type, owner }: DeclaredList, rights: Rights): Right {
	return rights[type]?.update ?? ofOwner(type, owner);
}

/** To move an object on a list whose owner the viewer may change. */
function onList(type: string, reference: string, update: Right): Right {
	return {
		cost: 1 + update.cost,
		async require(context, given) {
			const node = await requireVisible(context, type, given);
			const owner = referenceOf(context.graph.model, node, reference);
			await update.require(context, owner ?? "reserved");
			return node;
		},
	};
}

/** NOT_FOUND unless the viewer sees it, FORBIDDEN unless it is the viewer's. */
function ofOwner(type: string, owner: string | null): Right {
	return {
		cost: 1,
		async require(context, given) {
			const node = await requireVisible(context, type, given);
			const { model } = context.graph;
			if (
				owner !== null &&
				referenceOf(model, node, owner) === context.viewer
			) {
				return node;
			}
			throw new CorkboardError(
				"FORBIDDEN",
				`Only its ${words(owner ?? "owner")} may change or delete this ${words(type)}.`,
			);
		},
	};
}

/** `note` of `Note`. */
function fieldOf(type: string): string {
	return `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}
