import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, client } from "../helpers/client.ts";
import { type ServedHere, serveHere } from "../helpers/demoServer.ts";
import { join, made, mutate } from "../helpers/member.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("mutations of users and boards over HTTP, and later queries", () => {
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

	it("users: an account is created with a token, changed only by its owner, followed and unfollowed", async () => {
		const ada = await join(server.url, "Ada_Users", {
			name: " Ada ",
			email: "ada.users@example.com",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatar: { url: "https://example.com/ada.png", width: 64 },
			idempotencyKey: "ada",
		});
		const again = await join(server.url, "Ada_Users", {
			name: " Ada ",
			email: "ada.users@example.com",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatar: { url: "https://example.com/ada.png", width: 64 },
			idempotencyKey: "ada",
		});
		assert.equal(again.id, ada.id);
		const ben = await join(server.url, "ben_users");
		const profile =
			'{ user(by: {username: "ada_users"}) { id username name bio website avatar { url width } email viewerFollows followsViewer } }';
		const seen = {
			id: ada.id,
			username: "Ada_Users",
			name: "Ada",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatar: { url: "https://example.com/ada.png", width: 64 },
		};
		assert.deepEqual(await visitor.data(profile), {
			user: { ...seen, email: null, viewerFollows: null, followsViewer: null },
		});
		assert.deepEqual(await ada.data(profile), {
			user: {
				...seen,
				email: "ada.users@example.com",
				viewerFollows: false,
				followsViewer: false,
			},
		});

		assert.deepEqual(
			await mutate(
				ada,
				"updateUser",
				{ username: "ada_bakes", bio: null, email: null },
				"user { username name bio email website }",
			),
			{
				user: {
					username: "ada_bakes",
					name: "Ada",
					bio: null,
					email: null,
					website: "https://example.com/ada",
				},
			},
		);
		assert.deepEqual(
			await visitor.data(
				'{ old: user(by: {username: "Ada_Users"}) { id } new: user(by: {username: "ADA_BAKES"}) { id } }',
			),
			{ old: null, new: { id: ada.id } },
		);

		const follow = (name: string) =>
			mutate(
				ben,
				name,
				{ userId: ada.id },
				"user { viewerFollows followers { totalCount nodes { username } } }",
			);
		const followed = {
			user: {
				viewerFollows: true,
				followers: { totalCount: 1, nodes: [{ username: "ben_users" }] },
			},
		};
		assert.deepEqual(await follow("followUser"), followed);
		assert.deepEqual(await follow("followUser"), followed);
		assert.deepEqual(
			await ada.data(
				'{ user(by: {username: "ben_users"}) { followsViewer following { totalCount nodes { id } } } }',
			),
			{
				user: {
					followsViewer: true,
					following: { totalCount: 1, nodes: [{ id: ada.id }] },
				},
			},
		);
		assert.deepEqual(await follow("unfollowUser"), {
			user: { viewerFollows: false, followers: { totalCount: 0, nodes: [] } },
		});
	});

	it("boards: created, changed, made secret, followed and deleted", async () => {
		const ada = await join(server.url, "ada_boards");
		const ben = await join(server.url, "ben_boards");
		const create = (input: object) =>
			made(
				ada,
				"createBoard",
				{ name: "Loaves", idempotencyKey: "loaves", ...input },
				"board",
			);
		const board = await create({});
		assert.equal(await create({}), board);
		const second = await create({ name: "Cakes", idempotencyKey: "cakes" });

		const follow = (name: string) =>
			mutate(
				ben,
				name,
				{ boardId: board },
				"board { viewerFollows owner { username } followers { totalCount } }",
			);
		const owner = { username: "ada_boards" };
		assert.deepEqual(await follow("followBoard"), {
			board: { viewerFollows: true, owner, followers: { totalCount: 1 } },
		});
		assert.deepEqual(
			await ben.data("{ viewer { followedBoards { nodes { name } } } }"),
			{ viewer: { followedBoards: { nodes: [{ name: "Loaves" }] } } },
		);

		assert.deepEqual(
			await mutate(
				ada,
				"updateBoard",
				{ boardId: board, description: "All kinds", secret: true },
				"board { name description secret }",
			),
			{ board: { name: "Loaves", description: "All kinds", secret: true } },
		);
		const shown = `{
			board(id: "${board}") { name }
			node(id: "${board}") { id }
			user(by: {username: "ada_boards"}) { boards { nodes { name } } }
			viewer { followedBoards { nodes { name } } }
		}`;
		assert.deepEqual(await ben.data(shown), {
			board: null,
			node: null,
			user: { boards: { nodes: [{ name: "Cakes" }] } },
			viewer: { followedBoards: { nodes: [] } },
		});
		assert.deepEqual(await ada.data(shown), {
			board: { name: "Loaves" },
			node: { id: board },
			user: { boards: { nodes: [{ name: "Cakes" }, { name: "Loaves" }] } },
			viewer: { followedBoards: { nodes: [] } },
		});

		await made(ada, "updateBoard", { boardId: board, secret: false }, "board");
		assert.deepEqual(await follow("unfollowBoard"), {
			board: { viewerFollows: false, owner, followers: { totalCount: 0 } },
		});
		assert.deepEqual(
			await mutate(ada, "deleteBoard", { boardId: second }, "deletedBoardId"),
			{ deletedBoardId: second },
		);
		assert.deepEqual(
			await ada.data(
				`{ board(id: "${second}") { id } viewer { boards { totalCount nodes { id } } } }`,
			),
			{
				board: null,
				viewer: { boards: { totalCount: 1, nodes: [{ id: board }] } },
			},
		);
	});

	it("several mutations in one document run in order, each after the effects of the previous", async () => {
		const ada = await join(server.url, "ada_serial");
		const board = await made(ada, "createBoard", { name: "One" }, "board");
		const update = (alias: string, name: string) =>
			`${alias}: updateBoard(input: {boardId: "${board}", name: "${name}"}) { board { name } }`;
		assert.deepEqual(
			await ada.data(
				`mutation { ${update("a", "Two")} ${update("b", "Three")} }`,
			),
			{ a: { board: { name: "Two" } }, b: { board: { name: "Three" } } },
		);
		assert.deepEqual(await ada.data(`{ board(id: "${board}") { name } }`), {
			board: { name: "Three" },
		});
	});
});
