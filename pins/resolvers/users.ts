import {
	anonymousMutation,
	type BatchResolver,
	CorkboardError,
	type FieldProblem,
	fieldsToCreate,
	fieldsToUpdate,
	type Id,
	id,
	idempotency,
	idempotencyKey,
	mutation,
	type Node,
	optional,
	type RequestContext,
	type Resolvers,
	required,
} from "corkboard";
import {
	edgeMutations,
	listCount,
	newStoredJson,
	requireVisible,
	storedValue,
	updatedStoredJson,
	viewerMembership,
} from "../typed.ts";

/**
 * How long a repeated createUser is answered with a token again. It needs only
 * the idempotency key and the input, which need not be secret: without a limit
 * they would be a password that nobody chose.
 */
const REPEATED_TOKEN_MS = 10 * 60_000;

const createUser = anonymousMutation(
	{
		name: "createUser",
		input: (types) => ({
			...fieldsToCreate(types, "User"),
			idempotencyKey: optional(idempotencyKey),
		}),
		cost: () => 1,
	},
	async (readInput, context, call) => {
		const input = readInput();
		const { idempotencyKey: key, ...fields } = input;
		const { graph } = context;
		const now = context.now();
		const user = await withOneConflictMessage(
			input,
			context.writes(call).create({
				type: "User",
				data: newStoredJson(context, "User", {
					...fields,
					createdAt: now.toISOString(),
				}),
				...idempotency("createUser", "anonymous", input),
			}),
		);
		if (typeof key === "string") {
			const node = await requireVisible({ graph, call }, "User", user);
			const createdAt = storedValue(graph.model, node, "createdAt");
			const age = now.getTime() - Date.parse(String(createdAt));
			if (age > REPEATED_TOKEN_MS) return { user, token: null };
		}
		return { user, token: await context.signToken(user) };
	},
);

const updateUser = mutation(
	{
		name: "updateUser",
		input: (types) => fieldsToUpdate(types, "User"),
		cost: () => 0,
	},
	async (input, { graph, writes, viewer }) => {
		await withOneConflictMessage(
			input,
			writes.modify(viewer, (data) =>
				updatedStoredJson(graph.model, "User", data, input),
			),
		);
		return { user: viewer };
	},
);

/** Keeps the username and the e-mail address, so that nobody else takes them. */
const deactivateUser = mutation(
	{
		name: "deactivateUser",
		input: () => ({ userId: required(id) }),
		cost: () => 1,
		maxObjects: 0,
	},
	async (input, context) => {
		const user = await requireVisible(context, "User", input.userId);
		if (user.id !== context.viewer) {
			throw new CorkboardError(
				"FORBIDDEN",
				"Only the users themselves may close their accounts.",
			);
		}
		await context.writes.modify(user.id, (data) =>
			updatedStoredJson(context.graph.model, "User", data, {
				deactivatedAt: context.now.toISOString(),
			}),
		);
		return { deactivatedUserId: user.id };
	},
);

/** Only the user reads it. */
const email: BatchResolver<RequestContext> = {
	cost: () => 0,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve({ parents, context: { graph, viewer } }) {
		return parents.map((user) =>
			user !== null && user.id === viewer
				? (storedValue(graph.model, user, "email") ?? null)
				: null,
		);
	},
};

/** Secret boards, and what is on them, count too: nobody else may know how many there are. */
function isOwn(user: Node, viewer: Id | null): boolean {
	return user.id === viewer;
}

const isViewer: BatchResolver<RequestContext> = {
	cost: () => 0,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve: ({ parents, context: { viewer } }) =>
		parents.map((user) => user !== null && user.id === viewer),
};

export const userResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createUser", createUser],
	["Mutation.updateUser", updateUser],
	...edgeMutations("blockUser", "unblockUser", "User", {
		publicIdField: "blockedUserId",
	}),
	["Mutation.deactivateUser", deactivateUser],
	["User.email", email],
	["User.isViewer", isViewer],
	["User.pinCount", listCount("ownPin", isOwn)],
	["User.boardCount", listCount("ownBoard", isOwn)],
	["User.followerCount", listCount("followUser.inverse")],
	["User.followingCount", listCount("followUser")],
	["User.viewerFollows", viewerMembership("followUser")],
	["User.followsViewer", viewerMembership("followUser.inverse")],
]);

/**
 * One message for a taken username and a taken address: it does not reveal which
 * addresses have an account. The field is named only if the request gave one of
 * the two, so that it says what the code says already.
 */
async function withOneConflictMessage<T>(
	given: Readonly<Record<string, unknown>>,
	write: Promise<T>,
): Promise<T> {
	try {
		return await write;
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
			throw new CorkboardError(
				"CONFLICT",
				"This username or e-mail address is taken.",
				{ cause: thrown, ...clashing(given) },
			);
		}
		throw thrown;
	}
}

function clashing(given: Readonly<Record<string, unknown>>): {
	readonly fields?: readonly FieldProblem[];
} {
	const [field, other] = (["username", "email"] as const).filter(
		(name) => typeof given[name] === "string",
	);
	if (field === undefined || other !== undefined) return {};
	const message =
		field === "username"
			? "This username is taken. Choose another one."
			: "This e-mail address is taken.";
	return { fields: [{ path: ["input", field], code: "TAKEN", message }] };
}
