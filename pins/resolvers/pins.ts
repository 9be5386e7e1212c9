import {
	bothOrFirstError,
	CorkboardError,
	fieldsToCreate,
	fieldsToUpdate,
	type Id,
	id,
	idempotency,
	idempotencyKey,
	ids,
	isGiven,
	mutation,
	optional,
	type RequestContext,
	type Resolvers,
	required,
} from "corkboard";
import {
	inSection,
	sectionField,
	sectionIdOf,
	sectionOf,
} from "../parts/sections.ts";
import {
	listCount,
	newStoredJson,
	referenceOf,
	requireVisible,
	storedFields,
	updatedStoredJson,
	viewerMembership,
} from "../typed.ts";
import { fieldPolicies, slugs } from "../validators.ts";
import { FILE_UNDER_COST, fileUnder, interestLinks } from "./interestLinks.ts";
import { countOf, MAX_PINS, movePin, movePins } from "./movePin.ts";
import { requireRight, viewerCan } from "./permissions.ts";
import { viewerHasSaved, viewerSaves } from "./viewerSaves.ts";

const createPin = mutation(
	{
		name: "createPin",
		input: (types) => ({
			boardId: required(id),
			...sectionField(types),
			...fieldsToCreate(types, "Pin"),
			interests: optional(slugs),
			idempotencyKey: optional(idempotencyKey),
		}),
		// The board, whether it is shared with the viewer, and the lookup of each interest.
		cost: ({ sectionId, interests }) =>
			2 +
			(isGiven(sectionId) ? 1 : 0) +
			(Array.isArray(interests) ? interests.length : 0),
	},
	async (input, context) => {
		const {
			boardId,
			sectionId,
			interests: names,
			idempotencyKey: _,
			...fields
		} = input;
		const board = await requireRight(context, "Board", "pin", boardId);
		const section = await sectionOf("createPin", context, board, sectionId);
		const pin = await context.writes.create({
			type: "Pin",
			data: newStoredJson(context, "Pin", {
				...fields,
				createdAt: context.now.toISOString(),
				board: board.id,
				...inSection(context.graph, section?.id),
				owner: context.viewer,
			}),
			links: await interestLinks(names ?? [], context),
			...idempotency("createPin", context.viewer, input),
		});
		return {
			pin,
			board: board.id,
			section: section?.id ?? null,
			viewer: context.viewer,
		};
	},
);

const repin = mutation(
	{
		name: "repin",
		input: (types) => ({
			pinId: required(id),
			boardId: required(id),
			...sectionField(types),
			title: optional(fieldPolicies.Pin.title.validate),
			details: optional(fieldPolicies.Pin.details.validate),
			idempotencyKey: optional(idempotencyKey),
		}),
		cost: ({ sectionId }) => 3 + (isGiven(sectionId) ? 1 : 0),
	},
	async (input, context) => {
		const { model } = context.graph;
		const [origin, board] = await bothOrFirstError(
			requireVisible(context, "Pin", input.pinId),
			requireRight(context, "Board", "pin", input.boardId),
		);
		const section = await sectionOf("repin", context, board, input.sectionId);
		const copied = storedFields(model, origin);
		return {
			pin: await context.writes.create({
				type: "Pin",
				data: newStoredJson(context, "Pin", {
					...copied,
					// A blank text counts as null, and null as not given.
					title: input.title ?? copied.title,
					details: input.details ?? copied.details,
					createdAt: context.now.toISOString(),
					board: board.id,
					...inSection(context.graph, section?.id),
					owner: context.viewer,
					origin: origin.id,
				}),
				...idempotency("repin", context.viewer, input),
			}),
			board: board.id,
			section: section?.id ?? null,
			origin: origin.id,
			viewer: context.viewer,
		};
	},
);

const updatePin = mutation(
	{
		name: "updatePin",
		input: (types) => ({
			pinId: required(id),
			...fieldsToUpdate(types, "Pin"),
			interests: optional(slugs),
		}),
		cost: ({ interests }) =>
			1 +
			(interests === undefined ? 0 : FILE_UNDER_COST) +
			(Array.isArray(interests) ? interests.length : 0),
	},
	async ({ pinId: given, interests, ...fields }, context) => {
		const pin = await requireRight(context, "Pin", "update", given);
		await context.writes.modify(pin.id, (data) =>
			updatedStoredJson(context.graph.model, "Pin", data, fields),
		);
		if (interests !== undefined) {
			await fileUnder(pin.id, interests ?? [], context);
		}
		return { pin: pin.id, viewer: context.viewer };
	},
);

const deletePin = mutation(
	{
		name: "deletePin",
		input: () => ({ pinId: required(id) }),
		// The pin and its board.
		cost: () => 2,
		maxObjects: 0,
	},
	async (input, context) => {
		const pin = await requireRight(context, "Pin", "delete", input.pinId);
		await context.writes.remove(pin.id);
		const { model } = context.graph;
		return {
			deletedPinId: pin.id,
			board: referenceOf(model, pin, "board"),
			section: sectionIdOf(context.graph, pin),
			viewer: context.viewer,
			origin: referenceOf(model, pin, "origin"),
		};
	},
);

/**
 * One after the other. What does not exist, or not any more, is passed over: a
 * repeated request deletes what is left. Who may not delete one of them deletes none.
 */
const deletePins = mutation(
	{
		name: "deletePins",
		input: () => ({ pinIds: required(ids(MAX_PINS)) }),
		cost: ({ pinIds }) => 2 * countOf(pinIds),
		maxObjects: 0,
	},
	async ({ pinIds }, context) => {
		const pins: Id[] = [];
		for (const pinId of pinIds) {
			try {
				const pin = await requireRight(context, "Pin", "delete", pinId);
				pins.push(pin.id);
			} catch (thrown) {
				const isGone =
					thrown instanceof CorkboardError && thrown.code === "NOT_FOUND";
				if (!isGone) throw thrown;
			}
		}
		for (const pin of pins) await context.writes.remove(pin);
		return { deletedPinIds: pins, viewer: context.viewer };
	},
);

export const pinResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createPin", createPin],
	["Mutation.repin", repin],
	["Mutation.updatePin", updatePin],
	["Mutation.movePin", movePin],
	["Mutation.movePins", movePins],
	["Mutation.deletePin", deletePin],
	["Mutation.deletePins", deletePins],
	["Pin.likeCount", listCount("likePin.inverse")],
	["Pin.viewerLikes", viewerMembership("likePin")],
	["Pin.viewerHasSaved", viewerHasSaved],
	["Pin.viewerSaves", viewerSaves],
	["Pin.viewerCanUpdate", viewerCan("Pin", "update")],
	["Pin.viewerCanDelete", viewerCan("Pin", "delete")],
]);
