import { CorkboardError } from "../../errors.ts";
import type { RequestContext } from "../../graphql/context.ts";
import {
	optional,
	optionalNonNull,
	required,
} from "../../graphql/input/readInput.ts";
import { id, idempotencyKey } from "../../graphql/input/validators.ts";
import { validators } from "../../model/validation.ts";
import type { BatchResolver, Resolvers } from "../../plan/batchResolver.ts";
import { edgeMutation } from "./edgeMutation.ts";
import { anonymousMutation, idempotency, mutation } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";
import { newStoredJson, storedValue, updatedStoredJson } from "./storedJson.ts";
import { viewerMembership } from "./viewerMembership.ts";

/**
 * How long a repeat of createUser is answered with a token again. Its
 * idempotency key and its input are all it takes, and neither need be secret:
 * for ever, they would be a password nobody chose.
 */
const TOKEN_AGAIN_MS = 10 * 60_000;

const createUser = anonymousMutation(
	{
		name: "createUser",
		input: {
			username: required(validators["User.username"]),
			name: optional(validators["User.name"]),
			email: optional(validators["User.email"]),
			bio: optional(validators["User.bio"]),
			website: optional(validators["User.website"]),
			avatarUrl: optional(validators["User.avatarUrl"]),
			idempotencyKey: optional(idempotencyKey),
		},
		reads: () => 1,
	},
	async (read, context, call) => {
		const input = read();
		const { graph } = context;
		const now = context.now();
		const user = await oneMessage(
			context.writes(call).create({
				type: "User",
				data: newStoredJson(graph.model, "User", {
					username: input.username,
					name: input.name ?? input.username,
					email: input.email,
					bio: input.bio,
					website: input.website,
					avatarUrl: input.avatarUrl,
					createdAt: now.toISOString(),
				}),
				...idempotency("createUser", "anonymous", input),
			}),
		);
		if (typeof input.idempotencyKey === "string") {
			const node = await requireVisible({ graph, call }, "User", user);
			const made = Date.parse(
				String(storedValue(graph.model, node, "createdAt")),
			);
			if (now.getTime() - made > TOKEN_AGAIN_MS) return { user, token: null };
		}
		return { user, token: await context.signToken(user) };
	},
);

const updateUser = mutation(
	{
		name: "updateUser",
		input: {
			username: optionalNonNull(validators["User.username"]),
			name: optionalNonNull(validators["User.name"]),
			email: optional(validators["User.email"]),
			bio: optional(validators["User.bio"]),
			website: optional(validators["User.website"]),
			avatarUrl: optional(validators["User.avatarUrl"]),
		},
		reads: () => 0,
	},
	async (input, { graph, writes, viewer }) => {
		await oneMessage(
			writes.modify(viewer, (data) =>
				updatedStoredJson(graph.model, "User", data, input),
			),
		);
		return { user: viewer };
	},
);

/** The name and the address stay the account's, so that nobody takes its place. */
const deactivateUser = mutation(
	{
		name: "deactivateUser",
		input: { userId: required(id) },
		reads: () => 1,
		yields: 0,
	},
	async (input, change) => {
		const user = await requireVisible(change, "User", input.userId);
		if (user.id !== change.viewer) {
			throw new CorkboardError(
				"FORBIDDEN",
				"deactivateUser: only the user themselves may do this.",
			);
		}
		await change.writes.modify(user.id, (data) =>
			updatedStoredJson(change.graph.model, "User", data, {
				deactivatedAt: change.now.toISOString(),
			}),
		);
		return { deactivatedId: user.id };
	},
);

/** For its owner alone. */
const ownEmail: BatchResolver<RequestContext> = {
	needs: ["email"],
	cost: () => 0,
	maxObjects: () => 0,
	dependsOnViewer: true,
	async resolve({ parents, context: { graph, viewer } }) {
		return parents.map((user) =>
			user !== null && user.id === viewer
				? (storedValue(graph.model, user, "email") ?? null)
				: null,
		);
	},
};

export const userResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createUser", createUser],
	["Mutation.updateUser", updateUser],
	[
		"Mutation.followUser",
		edgeMutation({
			name: "followUser",
			mapping: "followUser",
			to: "User",
			present: true,
		}),
	],
	[
		"Mutation.unfollowUser",
		edgeMutation({
			name: "unfollowUser",
			mapping: "followUser",
			to: "User",
			present: false,
		}),
	],
	[
		"Mutation.blockUser",
		edgeMutation({
			name: "blockUser",
			mapping: "blockUser",
			to: "User",
			present: true,
		}),
	],
	[
		"Mutation.unblockUser",
		edgeMutation({
			name: "unblockUser",
			mapping: "blockUser",
			to: "User",
			present: false,
		}),
	],
	["Mutation.deactivateUser", deactivateUser],
	["User.email", ownEmail],
	["User.viewerFollows", viewerMembership("followUser")],
	["User.followsViewer", viewerMembership("followUser.inverse")],
]);

/** A name that is taken is told in the same words as an address that is: which addresses have an account is nobody's business. */
async function oneMessage<T>(write: Promise<T>): Promise<T> {
	try {
		return await write;
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
			throw new CorkboardError(
				"CONFLICT",
				"This username or e-mail address is taken.",
				{ cause: thrown },
			);
		}
		throw thrown;
	}
}
