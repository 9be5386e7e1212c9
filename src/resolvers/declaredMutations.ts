import { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import { required } from "../graphql/input/readInput.ts";
import { type InputId, id } from "../graphql/input/validators.ts";
import type { DeclaredMutation } from "../model/expand/expandMutations.ts";
import type { BatchResolver, Resolvers } from "../plan/batchResolver.ts";
import type { JsonObject } from "../util/json.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { fieldsToCreate, fieldsToUpdate } from "./fieldInputs.ts";
import { type MutationContext, mutation } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";
import { newStoredJson, referenceOf, updatedStoredJson } from "./storedJson.ts";

/** The resolvers of the mutations that the SDL declares. `createdAt`: the stored field with the time of a new object. */
export function declaredMutations(
	declared: readonly DeclaredMutation[],
	createdAt: string | null,
): Resolvers<RequestContext> {
	return new Map(
		declared.map((each) => [
			`Mutation.${each.name}`,
			resolverOf(each, createdAt),
		]),
	);
}

function resolverOf(
	declared: DeclaredMutation,
	createdAt: string | null,
): BatchResolver<RequestContext> {
	switch (declared.kind) {
		case "add":
		case "remove":
			return edgeMutation({
				name: declared.name,
				mapping: declared.mapping,
				to: declared.to,
				present: declared.kind === "add",
			});
		case "create":
			return createMutation(declared, createdAt);
		case "update":
			return updateMutation(declared);
		case "delete":
			return deleteMutation(declared);
	}
}

type Declared<Kind extends DeclaredMutation["kind"]> = Extract<
	DeclaredMutation,
	{ readonly kind: Kind }
>;

function createMutation(
	{ name, type, owner, in: inside, inType, fields }: Declared<"create">,
	createdAt: string | null,
): BatchResolver<RequestContext> {
	const insideId = `${inside}Id`;
	return mutation(
		{
			name,
			input: (types) => ({
				...(inside !== null && { [insideId]: required(id) }),
				...only(fields, fieldsToCreate(types, type)),
			}),
			cost: () => (inside === null ? 0 : 1),
		},
		async (input, context) => {
			const values: Record<string, JsonObject[string] | undefined> = {
				...input,
			};
			delete values[insideId];
			const there =
				inside === null
					? null
					: await requireVisible(context, inType, input[insideId] as InputId);
			const stored = context.graph.model.objects.get(type)?.stored ?? [];
			const hasTime = stored.some(({ field }) => field === createdAt);
			return {
				[fieldOf(type)]: await context.writes.create({
					type,
					data: newStoredJson(context, type, {
						...values,
						...(createdAt !== null &&
							hasTime && { [createdAt]: context.now.toISOString() }),
						[owner]: context.viewer,
						...(inside !== null && there !== null && { [inside]: there.id }),
					}),
				}),
				...(inside !== null && there !== null && { [inside]: there.id }),
				viewer: context.viewer,
			};
		},
	);
}

function updateMutation({
	name,
	type,
	owner,
	fields,
}: Declared<"update">): BatchResolver<RequestContext> {
	const field = fieldOf(type);
	const idField = `${field}Id`;
	return mutation(
		{
			name,
			input: (types) => ({
				[idField]: required(id),
				...only(fields, fieldsToUpdate(types, type)),
			}),
			cost: () => 1,
		},
		async (input, context) => {
			const changes: Record<string, JsonObject[string] | undefined> = {
				...input,
			};
			delete changes[idField];
			const given = input[idField] as InputId;
			const node = await requireOwn(context, type, owner, given);
			await context.writes.modify(node.id, (data) =>
				updatedStoredJson(context.graph.model, type, data, changes),
			);
			return { [field]: node.id, viewer: context.viewer };
		},
	);
}

function deleteMutation({
	name,
	type,
	owner,
}: Declared<"delete">): BatchResolver<RequestContext> {
	const idField = `${fieldOf(type)}Id`;
	return mutation(
		{
			name,
			input: () => ({ [idField]: required(id) }),
			cost: () => 1,
		},
		async (input, context) => {
			const given = input[idField] ?? "reserved";
			const node = await requireOwn(context, type, owner, given);
			await context.writes.remove(node.id);
			return { [`deleted${type}Id`]: node.id, viewer: context.viewer };
		},
	);
}

/** NOT_FOUND unless the viewer sees it, FORBIDDEN unless it is the viewer's. */
async function requireOwn(
	context: MutationContext,
	type: string,
	owner: string,
	given: InputId,
): Promise<Node> {
	const node = await requireVisible(context, type, given);
	if (referenceOf(context.graph.model, node, owner) === context.viewer) {
		return node;
	}
	throw new CorkboardError(
		"FORBIDDEN",
		`Only its ${owner} may change or delete this ${type}.`,
	);
}

function only<T>(
	fields: readonly string[],
	shape: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
	return Object.fromEntries(
		Object.entries(shape).filter(([field]) => fields.includes(field)),
	);
}

/** `note` of `Note`. */
function fieldOf(type: string): string {
	return `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}
