import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError, type FieldProblem } from "../../src/errors.ts";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import { applyEdges } from "../../src/graph/outbox/parts/edgeUpdates.ts";
import { View } from "../../src/graph/read/view.ts";
import { prefixListId } from "../../src/graph/store/derivedLists.ts";
import type { Store } from "../../src/graph/store/store.ts";
import type { PageEdge } from "../../src/graph/types.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import type { Id } from "../../src/id/ids.ts";
import { globalListId } from "../../src/model/types.ts";
import { listObjects } from "../../src/ops/listObjects.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { PRESENT } from "../../src/storage/rows.ts";
import { type Embedded, openEmbedded } from "../helpers/embedded.ts";
import { theModel } from "../helpers/model.ts";
import { resolvers } from "../helpers/resolvers.ts";

/** The payload of a mutation by this viewer, or the code of its error. Each is a request of its own. */
async function mutate(
	at: Embedded,
	viewer: Id | null,
	mutation: string,
	input: Readonly<Record<string, unknown>>,
	refusal: (error: CorkboardError) => Readonly<Record<string, unknown>> = ({
		code,
	}) => ({ error: code }),
): Promise<Readonly<Record<string, unknown>>> {
	const graph = new View(at.store, viewer);
	const resolver = resolvers.get(`Mutation.${mutation}`);
	assert.ok(resolver);
	const [answer] = await resolver.resolve({
		parents: [null],
		args: { input },
		context: {
			graph,
			fields: theModel().domain.fields,
			writes: (call) =>
				createWrites(at.store, () => graph.discardReads(), call),
			viewer,
			signToken: async (id: Id) => `token of ${id}`,
			now: () => new Date(),
		},
		call: {},
	});
	return answer instanceof CorkboardError
		? refusal(answer)
		: (answer as Record<string, unknown>);
}

async function made(
	at: Embedded,
	viewer: Id | null,
	mutation: string,
	input: Readonly<Record<string, unknown>>,
	field: string,
): Promise<Id> {
	const payload = await mutate(at, viewer, mutation, input);
	assert.ok(payload[field], JSON.stringify(payload));
	return payload[field] as Id;
}

/** The users on a list, as this viewer sees them. */
async function listed(
	at: Embedded,
	mapping: string,
	from: Id,
	viewer: Id | null = null,
): Promise<readonly unknown[]> {
	const [page] = await at.view(viewer).readPages(at.mapping(mapping), [from], {
		first: 20,
		fields: {
			edges: true,
			hasNextPage: false,
			hasPreviousPage: false,
			cursors: false,
			totalCount: false,
		},
	});
	assert.ok(page && !(page instanceof CorkboardError));
	return page.edges.map(({ node }) =>
		node instanceof CorkboardError ? node.code : node.id,
	);
}

async function people(at: Embedded) {
	const ada = await made(
		at,
		null,
		"createUser",
		{ username: "ada_made_up", email: "ada@example.com" },
		"user",
	);
	const ben = await made(
		at,
		null,
		"createUser",
		{ username: "ben_made_up" },
		"user",
	);
	const board = await made(at, ada, "createBoard", { name: "Bread" }, "board");
	const pin = (details: string) =>
		made(at, ada, "createPin", { boardId: board, details }, "pin");
	return { ada, ben, board, pin };
}

describe("mutations on embedded shards", () => {
	it("keep the order that the owner gives pins, across two boards", async () => {
		await using at = await openEmbedded();
		const { ada, board, pin } = await people(at);
		const [one, two, three] = [await pin("1"), await pin("2"), await pin("3")];
		assert.deepEqual(await listed(at, "placePin", board), [three, two, one]);
		await mutate(at, ada, "movePin", { pinId: one, beforePinId: two });
		assert.deepEqual(await listed(at, "placePin", board), [three, one, two]);
		await mutate(at, ada, "movePin", { pinId: three, afterPinId: two });
		assert.deepEqual(await listed(at, "placePin", board), [one, two, three]);
		await mutate(at, ada, "movePin", { pinId: two });
		assert.deepEqual(await listed(at, "placePin", board), [two, one, three]);
		const other = await made(
			at,
			ada,
			"createBoard",
			{ name: "Other" },
			"board",
		);
		await mutate(at, ada, "movePin", { pinId: one, boardId: other });
		assert.deepEqual(await listed(at, "placePin", board), [two, three]);
		assert.deepEqual(await listed(at, "placePin", other), [one]);
	});

	it("are followed by the edge that a page has, at the top, the end and in the middle of a list, and null for none", async () => {
		await using at = await openEmbedded();
		const { ada, ben, board, pin } = await people(at);
		const pins: Id[] = [];
		for (let n = 0; n < 3; n++) pins.push(await pin(String(n)));
		const [first] = pins as [Id, Id, Id];
		await mutate(at, ada, "movePin", { pinId: pins[2], afterPinId: first });
		const comments: Id[] = [];
		// More than a head holds: the newest is read below it.
		for (let n = 0; n < 34; n++) {
			const input = { pinId: first, text: String(n) };
			comments.push(await made(at, ben, "addComment", input, "comment"));
		}
		for (const [mapping, from, tos] of [
			["placePin", board, pins],
			["commentPin", first, [comments[0], comments[33]]],
		] as const) {
			const graph = at.view(ben);
			const fields = {
				edges: true,
				hasNextPage: false,
				hasPreviousPage: false,
				cursors: true,
				totalCount: false,
			};
			const [page] = await graph.readPages(at.mapping(mapping), [from], {
				first: 100,
				fields,
			});
			assert.ok(page && !(page instanceof CorkboardError));
			const ends = tos.map((to) => ({ from, to: to as Id }));
			const edges = await graph.readEdges(at.mapping(mapping), ends);
			for (const [nth, edge] of edges.entries()) {
				assert.ok(edge && !(edge instanceof CorkboardError), mapping);
				const known: PageEdge | undefined = page.edges.find(
					({ node }) => "id" in node && node.id === tos[nth],
				);
				assert.equal(edge.cursor(), known?.cursor());
				assert.equal(edge.sequence, known?.sequence);
				assert.deepEqual(edge.node, known?.node);
			}
		}
		const secret = await made(
			at,
			ada,
			"createBoard",
			{ name: "Mine", secret: true },
			"board",
		);
		const hidden = await made(at, ada, "createPin", { boardId: secret }, "pin");
		const place = at.mapping("placePin");
		const asked = [
			{ from: secret, to: hidden },
			{ from: board, to: hidden },
			{ from: board, to: comments[0] as Id },
		];
		assert.deepEqual(await at.view(ben).readEdges(place, asked), [
			null,
			null,
			null,
		]);
		assert.ok((await at.view(ada).readEdges(place, asked))[0]);
		const blocked = at.mapping("blockUser");
		await mutate(at, ada, "blockUser", { userId: ben });
		const ends = [{ from: ada, to: ben }];
		assert.ok((await at.view(ada).readEdges(blocked, ends))[0]);
		assert.deepEqual(await at.view(null).readEdges(blocked, ends), [null]);
	});

	it("give a username to one user and release it after a rename", async () => {
		await using at = await openEmbedded();
		const { ada, ben } = await people(at);
		const taken = { error: "CONFLICT" };
		for (const input of [
			{ username: "ADA_made_up" },
			{ username: "eve_made_up", email: "Ada@example.com" },
		]) {
			assert.deepEqual(await mutate(at, null, "createUser", input), taken);
			assert.deepEqual(await mutate(at, ben, "updateUser", input), taken);
		}
		await mutate(at, ada, "updateUser", { username: "ada_two", email: null });
		assert.deepEqual(
			await mutate(at, ben, "updateUser", {
				username: "ada_made_up",
				email: "ada@example.com",
			}),
			{ user: ben },
		);
	});

	it("create one object for a repeated idempotency key", async () => {
		await using at = await openEmbedded();
		const { ada, board } = await people(at);
		for (const [viewer, mutation, input] of [
			[null, "createUser", { username: "eve_made_up" }],
			[ada, "createBoard", { name: "Cakes" }],
			[ada, "createPin", { boardId: board, interests: ["bread", "cake"] }],
		] as const) {
			const keyed = { ...input, idempotencyKey: "k1" };
			assert.deepEqual(
				await mutate(at, viewer, mutation, keyed),
				await mutate(at, viewer, mutation, keyed),
			);
		}
		assert.deepEqual(
			await mutate(at, ada, "createBoard", {
				name: "Pies",
				idempotencyKey: "k1",
			}),
			{ error: "BAD_USER_INPUT" },
		);
	});

	it("create each new interest once for concurrent requests", async () => {
		await using at = await openEmbedded();
		const { ada, board } = await people(at);
		const pins = await Promise.all(
			Array.from({ length: 5 }, () =>
				made(
					at,
					ada,
					"createPin",
					{ boardId: board, interests: ["bread"] },
					"pin",
				),
			),
		);
		const list = at.mapping("listInterest");
		const all = await listed(
			at,
			"listInterest",
			globalListId(at.store.model, list),
		);
		assert.equal(all.length, 1);
		const [bread] = all as Id[];
		assert.ok(bread);
		for (const pin of pins) {
			assert.deepEqual(await listed(at, "filePin", pin), [bread]);
		}
		assert.deepEqual(
			(await listed(at, "filePin.inverse", bread)).toSorted(),
			pins.toSorted(),
		);
	});

	it("hide a board that becomes secret, and everything on it, from all but its owner", async () => {
		await using at = await openEmbedded();
		const { ada, ben, board, pin } = await people(at);
		const id = await pin("1");
		const like = () => mutate(at, ben, "likePin", { pinId: id });
		assert.deepEqual(await like(), { pin: id, viewer: ben });
		assert.deepEqual(
			await mutate(at, ben, "updatePin", { pinId: id, details: "Mine" }),
			{ error: "FORBIDDEN" },
		);
		await mutate(at, ada, "updateBoard", { boardId: board, secret: true });
		assert.deepEqual(await like(), { error: "NOT_FOUND" });
		assert.deepEqual(await mutate(at, ben, "updatePin", { pinId: id }), {
			error: "NOT_FOUND",
		});
		assert.deepEqual(await listed(at, "likePin", ben, ben), []);
		assert.deepEqual(await listed(at, "likePin", ben, ada), [id]);
	});

	it("list the pins saved from a pin and drop deleted ones", async () => {
		await using at = await openEmbedded();
		const { ada, ben, board, pin } = await people(at);
		const pinId = await pin("1");
		const shelf = await made(at, ben, "createBoard", { name: "B" }, "board");
		const saved = await made(
			at,
			ben,
			"repin",
			{ pinId, boardId: shelf },
			"pin",
		);
		assert.deepEqual(await listed(at, "repin", pinId), [saved]);
		const comment = await made(
			at,
			ben,
			"addComment",
			{ pinId, text: "Nice" },
			"comment",
		);
		assert.deepEqual(await listed(at, "commentPin", pinId), [comment]);
		assert.deepEqual(
			await mutate(at, ada, "updateComment", { commentId: comment, text: "x" }),
			{
				error: "FORBIDDEN",
			},
		);
		await mutate(at, ben, "deleteComment", { commentId: comment });
		assert.deepEqual(await listed(at, "commentPin", pinId), []);
		await mutate(at, ada, "deletePin", { pinId });
		assert.deepEqual(await listed(at, "placePin", board), []);
		assert.deepEqual(await mutate(at, ben, "likePin", { pinId }), {
			error: "NOT_FOUND",
		});
	});
});

describe("a report", () => {
	it("is on the operators' list once for each viewer and object, and in no response", async () => {
		await using at = await openEmbedded();
		const [ada, ben] = (await Promise.all(
			["ada_made_up", "ben_made_up"].map((username) =>
				made(at, null, "createUser", { username }, "user"),
			),
		)) as [Id, Id];
		const board = await made(at, ada, "createBoard", { name: "b" }, "board");
		const report = (who: Id, subjectId: Id, reason: string, text?: string) =>
			mutate(at, who, "report", { subjectId, reason, text });
		assert.deepEqual(await report(ben, board, "SPAM", " An ad "), {
			subject: board,
			subjectId: board,
		});
		assert.deepEqual(await report(ben, board, "HATE"), {
			subject: board,
			subjectId: board,
		});
		assert.deepEqual(await report(ada, ben, "OTHER"), {
			subject: ben,
			subjectId: ben,
		});
		await deliverPending(new WritePipeline(at.store), 0);
		const listOf = async (store: Store, count: number) => {
			const all: Readonly<Record<string, unknown>>[] = [];
			for await (const one of listObjects(store, "reports", count)) {
				assert.ok(!(one instanceof CorkboardError));
				all.push(one);
			}
			return all;
		};
		const listed = await listOf(at.cold(), 10);
		assert.deepEqual(
			listed.map(({ id: _, createdAt: __, ...fields }) => fields),
			[
				{ subjectId: ben, reason: "OTHER", reporter: ada },
				{ subjectId: board, reason: "SPAM", text: "An ad", reporter: ben },
			],
		);
		assert.equal((await listOf(at.store, 1)).length, 1);
		for (const viewer of [null, ada, ben]) {
			assert.deepEqual(
				await at.view(viewer).readObjects(listed.map(({ id }) => id as Id)),
				[null, null],
			);
		}
		const checked = await verify(at.store);
		assert.ok(checked.clean, JSON.stringify(checked));
		await assert.rejects(
			listObjects(at.store, "report", 1).next(),
			/There is no list "report" of the whole graph\. Did you mean reports\? Lists: interests, reports\./,
		);
	});
});

describe("the sections of a board", () => {
	it("list their pins, which leave them with the board", async () => {
		await using at = await openEmbedded();
		const make = (
			mutation: string,
			input: Readonly<Record<string, unknown>>,
			field: string,
		) => made(at, ada, mutation, input, field);
		const ada = await made(
			at,
			null,
			"createUser",
			{ username: "ada_made_up" },
			"user",
		);
		const [boardId, other] = [
			await make("createBoard", { name: "one" }, "board"),
			await make("createBoard", { name: "other" }, "board"),
		];
		const section = (name: string) =>
			make("createSection", { boardId, name }, "section");
		const [first, second] = [await section("first"), await section("second")];
		assert.deepEqual(await listed(at, "placeSection", boardId), [
			second,
			first,
		]);
		await make(
			"moveSection",
			{ sectionId: first, beforeSectionId: second },
			"section",
		);
		assert.deepEqual(await listed(at, "placeSection", boardId), [
			first,
			second,
		]);
		const pins: Id[] = [];
		for (const _ of "abc") {
			pins.push(await make("createPin", { boardId, sectionId: first }, "pin"));
		}
		const [a, b, c] = pins as [Id, Id, Id];
		const inFirst = () => listed(at, "placeInSection", first);
		const onBoard = () => listed(at, "placePin", boardId);
		const move = (input: Readonly<Record<string, unknown>>) =>
			make("movePin", input, "pin");
		assert.deepEqual(await inFirst(), [c, b, a]);
		await move({ pinId: a, sectionId: first, beforePinId: b });
		assert.deepEqual(await inFirst(), [c, a, b]);
		// The board has an order of its own.
		assert.deepEqual(await onBoard(), [c, b, a]);
		await move({ pinId: b, afterPinId: a });
		assert.deepEqual(await inFirst(), [c, a, b]);
		assert.deepEqual(await onBoard(), [c, a, b]);
		await move({ pinId: c, sectionId: second });
		assert.deepEqual(await inFirst(), [a, b]);
		assert.deepEqual(await listed(at, "placeInSection", second), [c]);
		await move({ pinId: a, sectionId: null });
		assert.deepEqual(await inFirst(), [b]);
		assert.deepEqual(await onBoard(), [c, a, b]);
		await move({ pinId: b, boardId: other });
		assert.deepEqual(await inFirst(), []);
		assert.deepEqual(await onBoard(), [c, a]);
		assert.deepEqual(await listed(at, "placePin", other), [b]);
		assert.deepEqual(
			await mutate(at, ada, "deleteSection", { sectionId: second }),
			{ deletedSectionId: second, board: boardId, viewer: ada },
		);
		assert.deepEqual(await listed(at, "placeSection", boardId), [first]);
		assert.deepEqual(await onBoard(), [c, a]);
		await deliverPending(new WritePipeline(at.store), 0);
		const checked = await verify(at.store);
		assert.ok(checked.clean, JSON.stringify(checked));
	});
});

describe("a refused field of an input", () => {
	it("is named with a sentence for people, whatever refuses it", async () => {
		await using at = await openEmbedded();
		const ada = await made(
			at,
			null,
			"createUser",
			{ username: "ada_made_up" },
			"user",
		);
		const board = (name: string) =>
			made(at, ada, "createBoard", { name, idempotencyKey: name }, "board");
		const [boardId, other] = [await board("one"), await board("other")];
		const sectionId = await made(
			at,
			ada,
			"createSection",
			{ boardId: other, name: "x" },
			"section",
		);
		const pinId = await made(at, ada, "createPin", { boardId }, "pin");
		const there = await made(at, ada, "createPin", { boardId: other }, "pin");
		for (const [mutation, input, field] of [
			["createPin", { boardId, sectionId }, "sectionId"],
			["repin", { pinId, boardId, sectionId }, "sectionId"],
			["movePin", { pinId, afterPinId: there }, "afterPinId"],
			["addCollaborator", { boardId, userId: ada }, "userId"],
			["followUser", { userId: ada }, "userId"],
			["createBoard", { name: "x", idempotencyKey: "one" }, "idempotencyKey"],
			["createBoard", { name: " " }, "name"],
		] as const) {
			const { fields } = await mutate(at, ada, mutation, input, (error) => ({
				fields: error.fields,
			}));
			const [problem] = fields as FieldProblem[];
			assert.deepEqual(problem?.path, ["input", field], mutation);
			assert.match(problem?.message ?? "", /^[A-Z].*\.$/);
		}
	});
});

describe("the boards of a user", () => {
	it("are met once each by pages of their list while the user moves others", async () => {
		await using at = await openEmbedded();
		const make = (
			mutation: string,
			input: Readonly<Record<string, unknown>>,
			field: string,
		) => made(at, ada, mutation, input, field);
		const ada = await made(
			at,
			null,
			"createUser",
			{ username: "ada_made_up" },
			"user",
		);
		const boards: Id[] = [];
		for (const name of "abcdefgh") {
			boards.unshift(await make("createBoard", { name }, "board"));
		}
		assert.deepEqual(await listed(at, "ownBoard", ada), boards);
		const [h, g] = boards as [Id, Id];
		const met: Id[] = [];
		for (let after: string | undefined, more = true; more; ) {
			const [page] = await at
				.view(ada)
				.readPages(at.mapping("ownBoard"), [ada], {
					first: 2,
					...(after !== undefined && { after }),
					fields: {
						edges: true,
						hasNextPage: true,
						hasPreviousPage: false,
						cursors: true,
						totalCount: false,
					},
				});
			assert.ok(page && !(page instanceof CorkboardError));
			met.push(...page.edges.map(({ node }) => (node as { id: Id }).id));
			after = page.endCursor ?? undefined;
			more = page.hasNextPage;
			// Between the two oldest there is no room for long: the list is renumbered.
			for (let time = 0; time < 12; time++) {
				const boardId = time % 2 === 0 ? h : g;
				const afterBoardId = boards.at(-2);
				await make("moveBoard", { boardId, afterBoardId }, "board");
			}
		}
		const unmoved = boards.slice(2);
		assert.deepEqual(
			met.filter((id) => unmoved.includes(id)),
			unmoved,
		);
		assert.deepEqual(await mutate(at, ada, "moveBoard", { boardId: g }), {
			board: g,
			viewer: ada,
		});
		assert.equal((await listed(at, "ownBoard", ada))[0], g);
		await deliverPending(new WritePipeline(at.store), 0);
		const checked = await verify(at.store);
		assert.ok(checked.clean, JSON.stringify(checked));
	});
});

describe("users by the beginning of a name", () => {
	async function found(
		at: Embedded,
		startsWith: string,
		{ viewer = null, first }: { viewer?: Id | null; first?: number } = {},
	): Promise<readonly unknown[]> {
		const [answer] = await (resolvers.get("Query.users")?.resolve({
			parents: [null],
			args: { startsWith, first },
			context: {
				graph: new View(at.store, viewer),
				fields: theModel().domain.fields,
				writes: () => assert.fail("a query writes nothing"),
				viewer,
				signToken: async () => "",
				now: () => new Date(),
			},
			call: {},
		}) ?? []);
		const { nodes } = answer as { nodes: readonly (Id | CorkboardError)[] };
		return nodes.map((one) => (one instanceof CorkboardError ? one.code : one));
	}

	const user = (at: Embedded, username: string, name?: string) =>
		made(at, null, "createUser", { username, name }, "user");

	it("are found by username and by a word of the name, the one of that username first, then the newest", async () => {
		await using at = await openEmbedded();
		const ada = await user(at, "ada", "Élodie Marchand");
		const adam = await user(at, "Adam_Made_Up", "Adam Märchen");
		const other = await user(at, "zed_made_up", "Adaline O'Ada");
		assert.deepEqual(await found(at, "ad"), [other, adam, ada]);
		assert.deepEqual(await found(at, "ADA"), [ada, other, adam]);
		assert.deepEqual(await found(at, "ada", { first: 1 }), [ada]);
		assert.deepEqual(await found(at, "marche"), [adam]);
		assert.deepEqual(await found(at, "Marc"), [adam, ada]);
		assert.deepEqual(await found(at, "elod"), [ada]);
		assert.deepEqual(await found(at, "adam mar"), [adam]);
		assert.deepEqual(await found(at, "adam_made_u"), [adam]);
		for (const nothing of ["", " ", "💡", "made", "x".repeat(500)]) {
			assert.deepEqual(await found(at, nothing), [], nothing);
		}
		assert.deepEqual(await found(at, "ad", { first: 0 }), []);
	});

	it("follow names as they change, and leave with an account and return with it", async () => {
		await using at = await openEmbedded();
		const ada = await user(at, "ada_made_up", "Ada Made-Up");
		await mutate(at, ada, "updateUser", { username: "lin", name: "Lin Yi" });
		assert.deepEqual(await found(at, "ada"), []);
		assert.deepEqual(await found(at, "li"), [ada]);
		assert.deepEqual(await found(at, "yi"), [ada]);
		await mutate(at, ada, "updateUser", { username: "ada_made_up" });
		assert.deepEqual(await found(at, "ada"), [ada]);
		const edges = async () => {
			const { storage } = at.store;
			let count = 0;
			for (const shard of storage.map.shards) {
				for await (const some of storage.walk(
					"edges",
					shard,
					at.mapping("prefixUser"),
				)) {
					count += some.filter(({ state }) => state === PRESENT).length;
				}
			}
			return count;
		};
		// `ada_made_up` and its beginnings up to ten letters, `lin` and `yi`.
		assert.equal(await edges(), 10 + 3 + 2);
		await mutate(at, ada, "deactivateUser", { userId: ada });
		assert.deepEqual(await found(at, "ada"), []);
		assert.equal(await edges(), 0);
		await createWrites(at.store).modify(
			ada,
			({ deactivated_at: _, ...data }) => data,
		);
		assert.deepEqual(await found(at, "ada"), [ada]);
		await deliverPending(new WritePipeline(at.store), 0);
		const checked = await verify(at.store);
		assert.ok(checked.clean, JSON.stringify(checked));
	});

	it("are not those who block the viewer, and are found by others", async () => {
		await using at = await openEmbedded();
		const ada = await user(at, "ada_made_up");
		const adam = await user(at, "adam_made_up");
		await mutate(at, ada, "blockUser", { userId: adam });
		assert.deepEqual(await found(at, "ada", { viewer: adam }), [adam]);
		assert.deepEqual(await found(at, "ada_made_up", { viewer: adam }), []);
		assert.deepEqual(await found(at, "ada", { viewer: ada }), [adam, ada]);
		assert.deepEqual(await found(at, "ada"), [adam, ada]);
	});

	it("are not those whose account is closed, also while they are still on a list", async () => {
		await using at = await openEmbedded();
		const ada = await user(at, "ada_made_up");
		await mutate(at, ada, "deactivateUser", { userId: ada });
		const type = at.store.model.objects.get("User");
		assert.ok(type);
		await applyEdges(new WritePipeline(at.store), [
			{
				mapping: "prefixUser",
				from: prefixListId(at.store, type, "ada"),
				to: ada,
				state: PRESENT,
				version: 99,
				sequence: null,
			},
		]);
		for (const text of ["ada", "ada_made_up"]) {
			assert.deepEqual(await found(at, text), [], text);
		}
	});

	it("cost what is read of their list, no matter who is on it", () => {
		const { cost, maxObjects } = resolvers.get("Query.users") ?? {};
		// The edges, and the user of that username; the plan counts those who are returned.
		assert.equal(cost?.({ startsWith: "ad", first: 10 }), 11);
		// Not all of the list begin so: up to a hundred are read.
		assert.equal(cost?.({ startsWith: "ada lov", first: 10 }), 191);
		assert.equal(cost?.({ startsWith: "💡", first: 10 }), 0);
		assert.equal(maxObjects?.({ startsWith: "ad" }), 20);
	});
});
