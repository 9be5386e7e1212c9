import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isObjectType } from "graphql";
import type { Id } from "../../src/id/ids.ts";
import { absentId } from "../helpers/memoryGraph.ts";
import { resolvers } from "../helpers/resolvers.ts";
import { model, Resolving, schema } from "../helpers/resolving.ts";

const RESERVED = "18446744073709551615";

/** Each mutation with the argument that names its object, and the object's type. */
const TARGETS = [
	["updateBoard", "boardId", "Board"],
	["moveBoard", "boardId", "Board"],
	["deleteBoard", "boardId", "Board"],
	["updatePin", "pinId", "Pin"],
	["movePin", "pinId", "Pin"],
	["deletePin", "pinId", "Pin"],
	["deleteComment", "commentId", "Comment"],
	["updateComment", "commentId", "Comment"],
	["createSection", "boardId", "Board"],
	["addCollaborator", "userId", "User"],
	["createPin", "boardId", "Board"],
	["repin", "pinId", "Pin"],
	["addComment", "pinId", "Pin"],
	["likePin", "pinId", "Pin"],
	["unlikePin", "pinId", "Pin"],
	["followBoard", "boardId", "Board"],
	["unfollowBoard", "boardId", "Board"],
	["followUser", "userId", "User"],
	["unfollowUser", "userId", "User"],
	["followInterest", "interestId", "Interest"],
	["unfollowInterest", "interestId", "Interest"],
] as const;

/** The message for those who may not. */
const REFUSALS: Readonly<Record<string, string>> = {
	updateBoard: "Only its owner may change or delete this board.",
	deleteBoard: "Only its owner may change or delete this board.",
	moveBoard: "Only its owner may change or delete this board.",
	updatePin: "Only its owner may change this pin.",
	movePin: "Only its owner and the owner of its board may move this pin.",
	deletePin: "Only its owner and the owner of its board may delete this pin.",
	deleteComment:
		"Only its author and the owners of its pin and board may delete this comment.",
	updateComment: "Only its author may change this comment.",
};

/** Another user's board with a pin and a comment, and the other required input of each mutation. */
function setting(at: Resolving, secret: boolean) {
	const Board = at.board(at.ben, { secret });
	const Pin = at.pin(at.ben, Board);
	const Comment = at.graph.add("Comment", {
		text: "Nice",
		user_id: at.ben,
		pin_id: Pin,
	});
	const Interest = at.graph.add("Interest", { slug: "bread", name: "Bread" });
	const targets: Record<string, Id> = {
		Board,
		Pin,
		Comment,
		Interest,
		User: at.ben,
	};
	const own = at.board(at.ada);
	const others = (mutation: string) => ({
		...(mutation === "repin" ? { boardId: own } : {}),
		...(/^(add|update)Comment$/.test(mutation) ? { text: "Nice" } : {}),
		...(mutation === "createSection" ? { name: "x" } : {}),
		...(mutation === "addCollaborator" ? { boardId: own } : {}),
	});
	return { targets, others };
}

describe("every mutation", () => {
	it("every field without a storage source has a resolver", () => {
		const expected = [...model.sources].flatMap(([type, fields]) =>
			[...fields]
				.filter(([, source]) => source.kind === "resolver")
				.map(([field]) => `${type}.${field}`),
		);
		assert.deepEqual([...resolvers.keys()].toSorted(), expected.toSorted());
		const mutations = schema.getMutationType();
		assert.ok(isObjectType(mutations));
		assert.deepEqual(
			[...resolvers.keys()]
				.filter((name) => /^Mutation\./.test(name))
				.toSorted(),
			Object.keys(mutations.getFields())
				.map((name) => `Mutation.${name}`)
				.toSorted(),
		);
	});

	for (const field of [...resolvers.keys()].filter(
		(name) => name.startsWith("Mutation.") && name !== "Mutation.createUser",
	)) {
		it(`${field} returns UNAUTHENTICATED to an anonymous viewer, and no other problem`, async () => {
			const at = new Resolving().as(null);
			assert.match(
				await at.refusal("UNAUTHENTICATED", field, { input: {} }),
				/^\w+ needs a viewer: send an access token\.$/,
			);
			assert.deepEqual(at.graph.calls, []);
		});
	}
});

describe("a mutation that names an object", () => {
	for (const [mutation, argument, type] of TARGETS) {
		it(`${mutation} refuses an id that is not a canonical decimal`, async () => {
			const at = new Resolving();
			const { others } = setting(at, false);
			assert.equal(
				await at.refused("BAD_USER_INPUT", mutation, {
					...others(mutation),
					[argument]: "1e3",
				}),
				`${mutation}: ${argument} must be an id, which is a decimal number, got "1e3".`,
			);
		});

		it(`${mutation} returns NOT_FOUND for an absent id, another type and a reserved id`, async () => {
			const at = new Resolving();
			const { targets, others } = setting(at, false);
			const wrongType = targets[type === "Pin" ? "Board" : "Pin"];
			for (const id of [absentId(1), wrongType, RESERVED]) {
				assert.equal(
					await at.refused("NOT_FOUND", mutation, {
						...others(mutation),
						[argument]: id,
					}),
					`${type} not found.`,
				);
			}
		});

		it(`${mutation} returns UNAVAILABLE when a host does not answer`, async () => {
			const at = new Resolving();
			const { targets, others } = setting(at, false);
			at.graph.down.add(String(targets[type]));
			await at.refused("UNAVAILABLE", mutation, {
				...others(mutation),
				[argument]: targets[type],
			});
		});

		if (type === "Board" || type === "Pin" || type === "Comment") {
			it(`${mutation} returns NOT_FOUND for an object on another user's secret board`, async () => {
				const at = new Resolving();
				const { targets, others } = setting(at, true);
				await at.refused("NOT_FOUND", mutation, {
					...others(mutation),
					[argument]: targets[type],
				});
			});
		}

		const refusal = REFUSALS[mutation];
		if (refusal !== undefined) {
			it(`${mutation} returns FORBIDDEN for a visible object of another user`, async () => {
				const at = new Resolving();
				const { targets, others } = setting(at, false);
				assert.equal(
					await at.refused("FORBIDDEN", mutation, {
						...others(mutation),
						[argument]: targets[type],
					}),
					refusal,
				);
				const owners = /owner of its board/.test(refusal)
					? [targets.Board]
					: /owners of its pin and board/.test(refusal)
						? [targets.Pin, targets.Pin, targets.Board]
						: [];
				assert.deepEqual(
					at.graph.calls,
					[targets[type], ...owners].map((id) => `objects ${id}`),
				);
			});
		}
	}

	it("repin returns FORBIDDEN for another user's board", async () => {
		const at = new Resolving();
		const { targets } = setting(at, false);
		await at.refused("FORBIDDEN", "repin", {
			pinId: targets.Pin,
			boardId: targets.Board,
		});
	});

	it("repin returns NOT_FOUND for another user's secret board", async () => {
		const at = new Resolving();
		const pin = setting(at, false).targets.Pin;
		await at.refused("NOT_FOUND", "repin", {
			pinId: pin,
			boardId: at.board(at.ben, { secret: true }),
		});
	});
});

describe("likes and follows", () => {
	for (const [on, off, mapping, argument, type] of [
		["likePin", "unlikePin", "likePin", "pinId", "Pin"],
		["followUser", "unfollowUser", "followUser", "userId", "User"],
		["followBoard", "unfollowBoard", "followBoard", "boardId", "Board"],
		[
			"followInterest",
			"unfollowInterest",
			"followInterest",
			"interestId",
			"Interest",
		],
	] as const) {
		it(`${on} adds an edge from the viewer, ${off} removes it, and repeating either is no error`, async () => {
			const at = new Resolving();
			const id = setting(at, false).targets[type] as Id;
			for (const [mutation, present] of [
				[off, false],
				[on, true],
				[on, true],
				[off, false],
				[off, false],
			] as const) {
				assert.deepEqual(await at.change(mutation, { [argument]: id }), {
					[type.toLowerCase()]: id,
					...(!present && { [`removed${type}Id`]: id }),
					viewer: at.ada,
				});
				assert.equal(at.graph.hasEdge(mapping, at.ada, id), present);
				assert.deepEqual(at.graph.calls, [
					`objects ${id}`,
					`${present ? "set" : "unset"} ${mapping} ${at.ada} ${id}`,
				]);
			}
		});
	}

	it("unfollowUser with the viewer's own id is no error", async () => {
		const at = new Resolving();
		assert.deepEqual(await at.change("unfollowUser", { userId: at.ada }), {
			user: at.ada,
			removedUserId: at.ada,
			viewer: at.ada,
		});
	});

	it("likePin returns NOT_FOUND for the id of a user", async () => {
		const at = new Resolving();
		await at.refused("NOT_FOUND", "likePin", { pinId: at.ada });
	});

	it("followUser refuses the viewer's own id", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "followUser", { userId: at.ada }),
			"followUser: userId must not be the viewer's own id.",
		);
		assert.deepEqual(at.graph.calls, []);
	});
});

describe("the cost of a mutation", () => {
	const cost = (field: string, input: object) =>
		resolvers.get(`Mutation.${field}`)?.cost({ input });

	it("is the number of objects and edges that it reads", () => {
		assert.equal(cost("likePin", { pinId: "1" }), 1);
		assert.equal(cost("createBoard", { name: "Kitchens" }), 0);
		assert.equal(cost("createPin", { boardId: "1" }), 2);
		assert.equal(cost("createPin", { boardId: "1", interests: ["a", "b"] }), 4);
		assert.equal(cost("repin", { pinId: "1", boardId: "2" }), 3);
		assert.equal(cost("movePin", { pinId: "1" }), 3);
		assert.equal(
			cost("movePin", { pinId: "1", afterPinId: "2", beforePinId: null }),
			4,
		);
	});

	it("counts one object in the payload, and none after a deletion", () => {
		assert.equal(resolvers.get("Mutation.likePin")?.maxObjects?.({}), 1);
		for (const deletion of ["deleteBoard", "deletePin", "deleteComment"]) {
			assert.equal(resolvers.get(`Mutation.${deletion}`)?.maxObjects?.({}), 0);
		}
	});
});
