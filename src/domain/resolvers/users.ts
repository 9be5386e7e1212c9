import { CorkboardError } from "../../errors.ts";
import type { RequestContext } from "../../graphql/context.ts";
import { kept, optional, required } from "../../graphql/input/read.ts";
import { id, idempotencyKey } from "../../graphql/input/rules.ts";
import { fieldRules } from "../../model/validators.ts";
import type { BatchResolver, Resolvers } from "../../plan/types.ts";
import { setsEdge } from "./edgeMutations.ts";
import { onViewersList } from "./membership.ts";
import { idempotency, mutation, openMutation } from "./mutation.ts";
import { changed, fieldOf, stored } from "./stored.ts";
import { visible } from "./visible.ts";

/**
 * How long a repeat of createUser is answered with a token again. Its
 * idempotency key and its input are all it takes, and neither need be secret:
 * for ever, they would be a password nobody chose.
 */
const TOKEN_AGAIN_MS = 10 * 60_000;

const createUser = openMutation(
	{
		name: "createUser",
		input: {
			username: required(fieldRules["User.username"]),
			name: optional(fieldRules["User.name"]),
			email: optional(fieldRules["User.email"]),
			bio: optional(fieldRules["User.bio"]),
			website: optional(fieldRules["User.website"]),
			avatarUrl: optional(fieldRules["User.avatarUrl"]),
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
				data: stored(graph.model, "User", {
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
			const node = await visible({ graph, call }, "User", user);
			const made = Date.parse(String(fieldOf(graph.model, node, "createdAt")));
			if (now.getTime() - made > TOKEN_AGAIN_MS) return { user, token: null };
		}
		return { user, token: await context.signToken(user) };
	},
);

const updateUser = mutation(
	{
		name: "updateUser",
		input: {
			username: kept(fieldRules["User.username"]),
			name: kept(fieldRules["User.name"]),
			email: optional(fieldRules["User.email"]),
			bio: optional(fieldRules["User.bio"]),
			website: optional(fieldRules["User.website"]),
			avatarUrl: optional(fieldRules["User.avatarUrl"]),
		},
		reads: () => 0,
	},
	async (input, { graph, writes, viewer }) => {
		await oneMessage(
			writes.modify(viewer, (data) =>
				changed(graph.model, "User", data, input),
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
		const user = await visible(change, "User", input.userId);
		if (user.id !== change.viewer) {
			throw new CorkboardError(
				"FORBIDDEN",
				"deactivateUser: only the user themselves may do this.",
			);
		}
		await change.writes.modify(user.id, (data) =>
			changed(change.graph.model, "User", data, {
				deactivatedAt: change.now.toISOString(),
			}),
		);
		return { deactivatedId: user.id };
	},
);

/** For its owner alone. */
const ownEmail: BatchResolver<RequestContext> = {
	needs: ["email"],
	price: () => 0,
	yields: () => 0,
	dependsOnViewer: true,
	async resolve({ parents, context: { graph, viewer } }) {
		return parents.map((user) =>
			user !== null && user.id === viewer
				? (fieldOf(graph.model, user, "email") ?? null)
				: null,
		);
	},
};

export const userResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createUser", createUser],
	["Mutation.updateUser", updateUser],
	[
		"Mutation.followUser",
		setsEdge({
			name: "followUser",
			mapping: "followUser",
			to: "User",
			present: true,
		}),
	],
	[
		"Mutation.unfollowUser",
		setsEdge({
			name: "unfollowUser",
			mapping: "followUser",
			to: "User",
			present: false,
		}),
	],
	[
		"Mutation.blockUser",
		setsEdge({
			name: "blockUser",
			mapping: "blockUser",
			to: "User",
			present: true,
		}),
	],
	[
		"Mutation.unblockUser",
		setsEdge({
			name: "unblockUser",
			mapping: "blockUser",
			to: "User",
			present: false,
		}),
	],
	["Mutation.deactivateUser", deactivateUser],
	["User.email", ownEmail],
	["User.viewerFollows", onViewersList("followUser")],
	["User.followsViewer", onViewersList("followUser.inverse")],
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
