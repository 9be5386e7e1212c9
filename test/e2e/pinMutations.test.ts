import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, client } from "../helpers/client.ts";
import { type ServedHere, serveHere } from "../helpers/demoServer.ts";
import { join, made, mutate } from "../helpers/member.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("mutations of pins, comments and interests over HTTP, and later queries", () => {
	const folder = temporaryFolder();
	let server: ServedHere;
	let visitor: Client;
	before(async () => {
		server = await serveHere({ CORKBOARD_DATA: folder.path });
		visitor = client(server.url);
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	it("counts are those of the connections, for one each, and several pins move and go at once", async () => {
		const ada = await join(server.url, "ada_many");
		const make = async (field: string, type: string) => {
			const data = await ada.data<
				Record<string, Record<string, { id: string }>>
			>(`mutation { made: ${field} { ${type} { id } } }`);
			return data.made?.[type]?.id ?? "";
		};
		const from = await make('createBoard(input: {name: "From"})', "board");
		const to = await make('createBoard(input: {name: "To"})', "board");
		const pins: string[] = [];
		for (let nth = 0; nth < 3; nth++) {
			pins.push(await make(`createPin(input: {boardId: "${from}"})`, "pin"));
		}
		const given = JSON.stringify(pins.slice(0, 2));
		await ada.data(
			`mutation { likePin(input: {pinId: "${pins[0]}"}) { pin { id } } addComment(input: {pinId: "${pins[0]}", text: "Mine"}) { pin { id } } }`,
		);
		assert.deepEqual(
			await ada.data(
				`{ pin(id: "${pins[0]}") { likeCount commentCount owner { pinCount boardCount followerCount followingCount } board { pinCount followerCount } } }`,
			),
			{
				pin: {
					likeCount: 1,
					commentCount: 1,
					owner: {
						pinCount: 3,
						boardCount: 2,
						followerCount: 0,
						followingCount: 0,
					},
					board: { pinCount: 3, followerCount: 0 },
				},
			},
		);
		const cost = async (fields: string) => {
			const answer = await ada.post(`{ viewer { ${fields} } }`, { cost: true });
			return answer.extensions?.cost?.requested ?? 0;
		};
		assert.equal((await cost("pinCount boardCount")) - (await cost("id")), 2);
		assert.deepEqual(
			await ada.data(
				`mutation { movePins(input: {pinIds: ${given}, boardId: "${to}"}) { pins { id board { pinCount pins { nodes { id } } } } } }`,
			),
			{
				movePins: {
					pins: pins.slice(0, 2).map((id) => ({
						id,
						board: {
							pinCount: 2,
							pins: { nodes: pins.slice(0, 2).map((id) => ({ id })) },
						},
					})),
				},
			},
		);
		const ben = await join(server.url, "ben_many");
		for (const mutation of [
			`deletePins(input: {pinIds: ${given}}) { deletedPinIds }`,
			`movePins(input: {pinIds: ${given}, boardId: "${from}"}) { viewer { id } }`,
		]) {
			assert.equal(await ben.code(`mutation { ${mutation} }`), "FORBIDDEN");
		}
		assert.equal(
			await ada.code(
				"mutation { deletePins(input: {pinIds: []}) { deletedPinIds } }",
			),
			"BAD_USER_INPUT",
		);
		// All are checked first: Ben's pin may not be taken away, so Ada's stay too.
		await ada.data(
			`mutation { addCollaborator(input: {boardId: "${to}", userId: "${ben.id}"}) { board { id } } }`,
		);
		const { createPin: bens } = await ben.data<{
			createPin: { pin: { id: string } };
		}>(`mutation { createPin(input: {boardId: "${to}"}) { pin { id } } }`);
		const order = async () => {
			const { board } = await ada.data<{
				board: { pins: { nodes: { id: string }[] } };
			}>(`{ board(id: "${to}") { pins { nodes { id } } } }`);
			return board.pins.nodes.map(({ id }) => id);
		};
		const both = JSON.stringify([bens.pin.id, ...pins.slice(0, 2)]);
		for (const [target, code] of [
			[from, "FORBIDDEN"],
			["123", "NOT_FOUND"],
		]) {
			assert.equal(
				await ada.code(
					`mutation { movePins(input: {pinIds: ${both}, boardId: "${target}"}) { viewer { id } } }`,
				),
				code,
			);
			assert.deepEqual(await order(), [bens.pin.id, ...pins.slice(0, 2)]);
		}
		const all = JSON.stringify([...pins.slice(1), "0"]);
		const remove = `mutation { deletePins(input: {pinIds: ${all}}) { deletedPinIds viewer { pinCount } } }`;
		assert.deepEqual(await ada.data(remove), {
			deletePins: { deletedPinIds: pins.slice(1), viewer: { pinCount: 1 } },
		});
		// What is gone is no error.
		assert.deepEqual(await ada.data(remove), {
			deletePins: { deletedPinIds: [], viewer: { pinCount: 1 } },
		});
	});

	it("a mutation returns the new edge as the list has it, the parent and the viewer", async () => {
		const ada = await join(server.url, "ada_edges");
		const { createBoard } = await ada.data<{
			createBoard: { board: { id: string }; boardEdge: unknown };
		}>(
			`mutation { createBoard(input: {name: "Loaves"}) {
				board { id } boardEdge { cursor node { id name } } viewer { username }
			} }`,
		);
		const { id } = createBoard.board;
		const top = await ada.data<{
			viewer: { boards: { edges: unknown[] } };
		}>("{ viewer { boards(first: 1) { edges { cursor node { id name } } } } }");
		assert.deepEqual(createBoard, {
			board: { id },
			boardEdge: top.viewer.boards.edges[0],
			viewer: { username: "ada_edges" },
		});
		const edge = "cursor node { id details }";
		const create = `createPin(input: {boardId: "${id}", details: "Rye"}) { pin { id } pinEdge { ${edge} } board { pins { totalCount edges { ${edge} } } } }`;
		const { createPin } = await ada.data<{
			createPin: {
				pin: { id: string };
				pinEdge: unknown;
				board: { pins: { totalCount: number; edges: unknown[] } };
			};
		}>(`mutation { ${create} }`);
		assert.equal(createPin.board.pins.totalCount, 1);
		assert.deepEqual(createPin.pinEdge, createPin.board.pins.edges[0]);
		const pin = createPin.pin.id;
		const like = (name: string) =>
			`${name}(input: {pinId: "${pin}"}) { pin { viewerLikes likedBy { nodes { username } } } viewer { likes { totalCount edges { likedAt node { id } } } } }`;
		const liked = await ada.data<{
			likePin: { viewer: { likes: { edges: { likedAt: string }[] } } };
		}>(`mutation { ${like("likePin")} }`);
		const [first] = liked.likePin.viewer.likes.edges;
		assert.ok(Date.parse(first?.likedAt ?? "") > 0);
		assert.deepEqual(await ada.data(`mutation { ${like("unlikePin")} }`), {
			unlikePin: {
				pin: { viewerLikes: false, likedBy: { nodes: [] } },
				viewer: { likes: { totalCount: 0, edges: [] } },
			},
		});
		assert.deepEqual(
			await ada.data(
				`mutation { deletePin(input: {pinId: "${pin}"}) { deletedPinId board { id pins { totalCount } } } deleteBoard(input: {boardId: "${id}"}) { deletedBoardId viewer { boards { totalCount } } } }`,
			),
			{
				deletePin: {
					deletedPinId: pin,
					board: { id, pins: { totalCount: 0 } },
				},
				deleteBoard: {
					deletedBoardId: id,
					viewer: { boards: { totalCount: 0 } },
				},
			},
		);
	});

	it("pins: saved, saved again, changed, moved, liked and deleted", async () => {
		const ada = await join(server.url, "ada_pins");
		const ben = await join(server.url, "ben_pins");
		const board = await made(ada, "createBoard", { name: "Loaves" }, "board");
		const other = await made(ada, "createBoard", { name: "Other" }, "board");
		const shelf = await made(ben, "createBoard", { name: "Shelf" }, "board");
		const image = { url: "https://example.com/rye.jpg", width: 640 };
		const rye = {
			boardId: board,
			details: "Rye",
			link: "https://example.com/rye",
			image,
			interests: ["rye-bread", "baking"],
			idempotencyKey: "rye",
		};
		const one = await made(ada, "createPin", rye, "pin");
		assert.equal(await made(ada, "createPin", rye, "pin"), one);
		const [two, three] = [
			await made(ada, "createPin", { boardId: board, details: "2" }, "pin"),
			await made(ada, "createPin", { boardId: board, details: "3" }, "pin"),
		];
		const order = async (id: string) => {
			const { board } = await visitor.data<{
				board: { pins: { totalCount: number; nodes: { id: string }[] } };
			}>(`{ board(id: "${id}") { pins { totalCount nodes { id } } } }`);
			assert.equal(board.pins.totalCount, board.pins.nodes.length);
			return board.pins.nodes.map((pin) => pin.id);
		};
		assert.deepEqual(await order(board), [three, two, one]);

		for (const [input, expected] of [
			[{ pinId: one, beforePinId: two }, [three, one, two]],
			[{ pinId: three, afterPinId: two }, [one, two, three]],
			[{ pinId: two }, [two, one, three]],
			[{ pinId: two, boardId: other }, [one, three]],
		] as const) {
			assert.equal(await made(ada, "movePin", input, "pin"), input.pinId);
			assert.deepEqual(await order(board), expected);
		}
		assert.deepEqual(await order(other), [two]);

		const saved = await made(
			ben,
			"repin",
			{ pinId: one, boardId: shelf },
			"pin",
		);
		const details = `{ pin(id: "${saved}") {
			details link image { url width height alt }
			owner { username } board { name } origin { id repins { nodes { id } } }
		} }`;
		assert.deepEqual(await visitor.data(details), {
			pin: {
				details: "Rye",
				link: "https://example.com/rye",
				image: { ...image, height: null, alt: null },
				owner: { username: "ben_pins" },
				board: { name: "Shelf" },
				origin: { id: one, repins: { nodes: [{ id: saved }] } },
			},
		});
		assert.deepEqual(
			await mutate(
				ada,
				"updatePin",
				{ pinId: one, details: "Dark rye", link: null },
				"pin { details link image { url } }",
			),
			{ pin: { details: "Dark rye", link: null, image: { url: image.url } } },
		);

		const like = (name: string) =>
			mutate(
				ben,
				name,
				{ pinId: one },
				"pin { viewerLikes likedBy { totalCount nodes { username } } }",
			);
		assert.deepEqual(await like("likePin"), {
			pin: {
				viewerLikes: true,
				likedBy: { totalCount: 1, nodes: [{ username: "ben_pins" }] },
			},
		});
		assert.deepEqual(await ben.data("{ viewer { likes { nodes { id } } } }"), {
			viewer: { likes: { nodes: [{ id: one }] } },
		});
		assert.deepEqual(await like("unlikePin"), {
			pin: { viewerLikes: false, likedBy: { totalCount: 0, nodes: [] } },
		});
		await like("likePin");

		assert.deepEqual(
			await mutate(ada, "deletePin", { pinId: one }, "deletedPinId"),
			{
				deletedPinId: one,
			},
		);
		assert.deepEqual(
			await ben.data(
				`{ pin(id: "${one}") { id } saved: pin(id: "${saved}") { origin { id } } viewer { likes { nodes { id } } pins { nodes { id } } } }`,
			),
			{
				pin: null,
				saved: { origin: null },
				viewer: { likes: { nodes: [] }, pins: { nodes: [{ id: saved }] } },
			},
		);
		assert.deepEqual(await order(board), [three]);
	});

	it("comments: added in their order and deleted by their author", async () => {
		const ada = await join(server.url, "ada_comments");
		const ben = await join(server.url, "ben_comments");
		const boardId = await made(ada, "createBoard", { name: "Loaves" }, "board");
		const pinId = await made(ada, "createPin", { boardId }, "pin");
		const say = (text: string) =>
			made(ben, "addComment", { pinId, text, idempotencyKey: text }, "comment");
		const first = await say("First");
		assert.equal(await say("First"), first);
		const second = await say("Second");
		const comments = `{ pin(id: "${pinId}") { comments { totalCount nodes { id text author { username } pin { id } } } } }`;
		const commentOf = (id: string, text: string) => ({
			id,
			text,
			author: { username: "ben_comments" },
			pin: { id: pinId },
		});
		assert.deepEqual(await visitor.data(comments), {
			pin: {
				comments: {
					totalCount: 2,
					nodes: [commentOf(first, "First"), commentOf(second, "Second")],
				},
			},
		});
		assert.deepEqual(
			await mutate(
				ben,
				"deleteComment",
				{ commentId: first },
				"deletedCommentId",
			),
			{ deletedCommentId: first },
		);
		assert.deepEqual(await visitor.data(comments), {
			pin: {
				comments: { totalCount: 1, nodes: [commentOf(second, "Second")] },
			},
		});
		assert.deepEqual(
			await visitor.data(`{ comment(id: "${first}") { text } }`),
			{ comment: null },
		);
	});

	it("interests: created with a pin, listed, followed and unfollowed", async () => {
		const ada = await join(server.url, "ada_interests");
		const boardId = await made(ada, "createBoard", { name: "Loaves" }, "board");
		const pin = await made(
			ada,
			"createPin",
			{ boardId, interests: ["sour-dough"] },
			"pin",
		);
		const { interest } = await visitor.data<{
			interest: { id: string; name: string };
		}>('{ interest(by: {slug: "sour-dough"}) { id name } }');
		assert.equal(interest.name, "Sour dough");
		const { interests } = await visitor.data<{
			interests: { nodes: unknown[] };
		}>("{ interests(first: 1) { nodes { id } } }");
		assert.deepEqual(interests.nodes, [{ id: interest.id }]);
		const follow = (name: string) =>
			mutate(
				ada,
				name,
				{ interestId: interest.id },
				"interest { viewerFollows pins { nodes { id } } followers { totalCount nodes { username } } }",
			);
		const pins = { nodes: [{ id: pin }] };
		assert.deepEqual(await follow("followInterest"), {
			interest: {
				viewerFollows: true,
				pins,
				followers: { totalCount: 1, nodes: [{ username: "ada_interests" }] },
			},
		});
		assert.deepEqual(
			await ada.data("{ viewer { followedInterests { nodes { slug } } } }"),
			{ viewer: { followedInterests: { nodes: [{ slug: "sour-dough" }] } } },
		);
		assert.deepEqual(await follow("unfollowInterest"), {
			interest: {
				viewerFollows: false,
				pins,
				followers: { totalCount: 0, nodes: [] },
			},
		});
	});
});
