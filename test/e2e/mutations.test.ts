import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, client } from "../helpers/client.ts";
import { type Served, serve } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

type Payload = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** One mutation with its input in a variable; what was asked of its payload. */
async function mutate<T = Payload>(
	as: Client,
	name: string,
	input: Readonly<Record<string, unknown>>,
	fields: string,
): Promise<T> {
	const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
	const data = await as.data<Readonly<Record<string, T>>>(
		`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`,
		{ input },
	);
	return data[name] as T;
}

describe("over HTTP, mutations and what queries show after them", () => {
	const folder = temporaryFolder();
	let server: Served;
	let visitor: Client;
	before(async () => {
		server = await serve({ CORKBOARD_DATA: folder.path });
		visitor = client(server.url);
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	interface Member extends Client {
		readonly id: string;
	}

	async function join(username: string, more = {}): Promise<Member> {
		const { user, token } = await mutate<{
			user: { id: string };
			token: string;
		}>(visitor, "createUser", { username, ...more }, "user { id } token");
		return { id: user.id, ...client(server.url, token) };
	}

	/** The id of what a mutation made or changed. */
	async function made(
		as: Client,
		name: string,
		input: Readonly<Record<string, unknown>>,
		field: string,
	): Promise<string> {
		const payload = await mutate(as, name, input, `${field} { id }`);
		return String(payload[field]?.id);
	}

	it("users: an account is made with a token, changed by its owner alone, followed and unfollowed", async () => {
		const ada = await join("Ada_Users", {
			name: " Ada ",
			email: "ada.users@example.com",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatarUrl: "https://example.com/ada.png",
			idempotencyKey: "ada",
		});
		const again = await join("Ada_Users", {
			name: " Ada ",
			email: "ada.users@example.com",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatarUrl: "https://example.com/ada.png",
			idempotencyKey: "ada",
		});
		assert.equal(again.id, ada.id);
		const ben = await join("ben_users");
		const profile =
			'{ user(username: "ada_users") { id username name bio website avatarUrl email viewerFollows followsViewer } }';
		const seen = {
			id: ada.id,
			username: "Ada_Users",
			name: "Ada",
			bio: "Bakes",
			website: "https://example.com/ada",
			avatarUrl: "https://example.com/ada.png",
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
				'{ old: user(username: "Ada_Users") { id } new: user(username: "ADA_BAKES") { id } }',
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
				'{ user(username: "ben_users") { followsViewer following { totalCount nodes { id } } } }',
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

	it("boards: made, changed, kept secret, followed and deleted", async () => {
		const ada = await join("ada_boards");
		const ben = await join("ben_boards");
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
				{ id: board, description: "All kinds", secret: true },
				"board { name description secret }",
			),
			{ board: { name: "Loaves", description: "All kinds", secret: true } },
		);
		const shown = `{
			board(id: "${board}") { name }
			node(id: "${board}") { id }
			user(username: "ada_boards") { boards { nodes { name } } }
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

		await made(ada, "updateBoard", { id: board, secret: false }, "board");
		assert.deepEqual(await follow("unfollowBoard"), {
			board: { viewerFollows: false, owner, followers: { totalCount: 0 } },
		});
		assert.deepEqual(
			await mutate(ada, "deleteBoard", { id: second }, "deletedId"),
			{ deletedId: second },
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

	it("pins: saved, saved again, changed, moved, liked and deleted", async () => {
		const ada = await join("ada_pins");
		const ben = await join("ben_pins");
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
			[{ id: one, before: two }, [three, one, two]],
			[{ id: three, after: two }, [one, two, three]],
			[{ id: two }, [two, one, three]],
			[{ id: two, boardId: other }, [one, three]],
		] as const) {
			assert.equal(await made(ada, "movePin", input, "pin"), input.id);
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
				{ id: one, details: "Dark rye", link: null },
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

		assert.deepEqual(await mutate(ada, "deletePin", { id: one }, "deletedId"), {
			deletedId: one,
		});
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
		const ada = await join("ada_comments");
		const ben = await join("ben_comments");
		const boardId = await made(ada, "createBoard", { name: "Loaves" }, "board");
		const pinId = await made(ada, "createPin", { boardId }, "pin");
		const say = (text: string) =>
			made(ben, "addComment", { pinId, text, idempotencyKey: text }, "comment");
		const first = await say("First");
		assert.equal(await say("First"), first);
		const second = await say("Second");
		const comments = `{ pin(id: "${pinId}") { comments { totalCount nodes { id text author { username } pin { id } } } } }`;
		const told = (id: string, text: string) => ({
			id,
			text,
			author: { username: "ben_comments" },
			pin: { id: pinId },
		});
		assert.deepEqual(await visitor.data(comments), {
			pin: {
				comments: {
					totalCount: 2,
					nodes: [told(first, "First"), told(second, "Second")],
				},
			},
		});
		assert.deepEqual(
			await mutate(ben, "deleteComment", { id: first }, "deletedId"),
			{ deletedId: first },
		);
		assert.deepEqual(await visitor.data(comments), {
			pin: { comments: { totalCount: 1, nodes: [told(second, "Second")] } },
		});
		assert.deepEqual(
			await visitor.data(`{ comment(id: "${first}") { text } }`),
			{ comment: null },
		);
	});

	it("interests: made with a pin, listed, followed and unfollowed", async () => {
		const ada = await join("ada_interests");
		const boardId = await made(ada, "createBoard", { name: "Loaves" }, "board");
		const pin = await made(
			ada,
			"createPin",
			{ boardId, interests: ["sour-dough"] },
			"pin",
		);
		const { interest } = await visitor.data<{
			interest: { id: string; name: string };
		}>('{ interest(slug: "sour-dough") { id name } }');
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

	it("several in one document run in their order, each seeing what came before", async () => {
		const ada = await join("ada_serial");
		const board = await made(ada, "createBoard", { name: "One" }, "board");
		const update = (alias: string, name: string) =>
			`${alias}: updateBoard(input: {id: "${board}", name: "${name}"}) { board { name } }`;
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
