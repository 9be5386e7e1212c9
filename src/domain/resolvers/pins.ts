import type { RequestContext } from "../../graphql/context.ts";
import { optional, required } from "../../graphql/input/readInput.ts";
import { id, idempotencyKey, slugs } from "../../graphql/input/validators.ts";
import { validators } from "../../model/validation.ts";
import type { Resolvers } from "../../plan/batchResolver.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { addToInterests, findOrCreateInterests } from "./filing.ts";
import { movePin } from "./movePin.ts";
import { idempotency, mutation } from "./mutation.ts";
import {
	bothOrFirstError,
	requireOwned,
	requireVisible,
} from "./requireVisible.ts";
import { newStoredJson, storedValue, updatedStoredJson } from "./storedJson.ts";
import { viewerMembership } from "./viewerMembership.ts";

const createPin = mutation(
	{
		name: "createPin",
		input: {
			boardId: required(id),
			details: optional(validators["Pin.details"]),
			link: optional(validators["Pin.link"]),
			image: optional(validators["Pin.image"]),
			interests: optional(slugs),
			idempotencyKey: optional(idempotencyKey),
		},
		// The board, and for each interest whether it is listed.
		reads: ({ interests }) =>
			1 + (Array.isArray(interests) ? interests.length : 0),
	},
	async (input, change) => {
		const board = await requireOwned(change, "Board", input.boardId);
		const interests = await findOrCreateInterests(
			input.interests ?? [],
			change,
		);
		const pin = await change.writes.create({
			type: "Pin",
			data: newStoredJson(change.graph.model, "Pin", {
				details: input.details,
				link: input.link,
				image: input.image,
				createdAt: change.now.toISOString(),
				board: board.id,
				owner: change.viewer,
			}),
			...idempotency("createPin", change.viewer, input),
		});
		await addToInterests(pin, interests, change);
		return { pin };
	},
);

const repin = mutation(
	{
		name: "repin",
		input: {
			pinId: required(id),
			boardId: required(id),
			details: optional(validators["Pin.details"]),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 2,
	},
	async (input, change) => {
		const { model } = change.graph;
		const [origin, board] = await bothOrFirstError(
			requireVisible(change, "Pin", input.pinId),
			requireOwned(change, "Board", input.boardId),
		);
		return {
			pin: await change.writes.create({
				type: "Pin",
				data: newStoredJson(model, "Pin", {
					// Blank is null, and null is not given.
					details: input.details ?? storedValue(model, origin, "details"),
					link: storedValue(model, origin, "link"),
					image: storedValue(model, origin, "image"),
					createdAt: change.now.toISOString(),
					board: board.id,
					owner: change.viewer,
					origin: origin.id,
				}),
				...idempotency("repin", change.viewer, input),
			}),
		};
	},
);

const updatePin = mutation(
	{
		name: "updatePin",
		input: {
			id: required(id),
			details: optional(validators["Pin.details"]),
			link: optional(validators["Pin.link"]),
			image: optional(validators["Pin.image"]),
		},
		reads: () => 1,
	},
	async ({ id: given, ...fields }, change) => {
		const pin = await requireOwned(change, "Pin", given);
		await change.writes.modify(pin.id, (data) =>
			updatedStoredJson(change.graph.model, "Pin", data, fields),
		);
		return { pin: pin.id };
	},
);

const deletePin = mutation(
	{
		name: "deletePin",
		input: { id: required(id) },
		reads: () => 1,
		yields: 0,
	},
	async (input, change) => {
		const pin = await requireOwned(change, "Pin", input.id);
		await change.writes.remove(pin.id);
		return { deletedId: pin.id };
	},
);

export const pinResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createPin", createPin],
	["Mutation.repin", repin],
	["Mutation.updatePin", updatePin],
	["Mutation.movePin", movePin],
	["Mutation.deletePin", deletePin],
	[
		"Mutation.likePin",
		edgeMutation({
			name: "likePin",
			mapping: "likePin",
			to: "Pin",
			present: true,
		}),
	],
	[
		"Mutation.unlikePin",
		edgeMutation({
			name: "unlikePin",
			mapping: "likePin",
			to: "Pin",
			present: false,
		}),
	],
	["Pin.viewerLikes", viewerMembership("likePin")],
]);
