import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { join, made } from "../helpers/member.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("the cost of an operation, over HTTP,", () => {
	it("is reported on request, and unused points return to the budget until it is empty", async () => {
		using folder = temporaryFolder();
		await using server = await serveHere({
			CORKBOARD_DATA: folder.path,
			CORKBOARD_MAX_COST: "1000",
			CORKBOARD_BUDGET: "1000/hour",
		});
		const ada = await join(server.url, "ada_spends");
		const board = await made(ada, "createBoard", { name: "b" }, "board");
		for (const details of ["one", "two", "three"]) {
			await made(ada, "createPin", { boardId: board, details }, "pin");
		}
		const visitor = client(server.url);
		const ask = (query: string, cost = "1") =>
			fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					accept: "application/graphql-response+json",
					"corkboard-cost": cost,
				},
				body: JSON.stringify({ query }),
			});
		const page = `{ board(id: "${board}") { pins(first: 100) { nodes { details owner { username } } } } }`;
		const extensions = async (cost?: string) =>
			((await (await ask(page, cost)).json()) as { extensions?: unknown })
				.extensions;
		// The board and its owner, and a hundred times an edge, a pin and its
		// owner; of which there were three pins, all of one user.
		assert.deepEqual(await extensions(), {
			cost: { requested: 302, actual: 2 + 3 + 3 },
		});
		assert.equal(await extensions("0"), undefined);
		// Six times 302 is more than there was.
		for (let n = 0; n < 6; n++) assert.equal((await ask(page)).status, 200);

		const expensive = `{ board(id: "${board}") { pins(first: 100) { nodes { likedBy(first: 5) { nodes { id } } } } } }`;
		const refused = await ask(expensive);
		assert.equal(refused.status, 400);
		assert.deepEqual(await refused.json(), {
			errors: [
				{
					message:
						"The operation costs 1302, over the limit of 1000. Most of the cost: board.pins.nodes.likedBy (1000), board.pins (300), board (2).",
					extensions: {
						code: "TOO_EXPENSIVE",
						cost: {
							requested: 1_302,
							limit: 1_000,
							fields: [
								{ path: "board.pins.nodes.likedBy", cost: 1_000 },
								{ path: "board.pins", cost: 300 },
								{ path: "board", cost: 2 },
							],
						},
					},
				},
			],
		});

		let last = await ask(page);
		for (let n = 0; n < 200 && last.status === 200; n++) {
			await last.text();
			last = await ask(page);
		}
		assert.equal(last.status, 429);
		const seconds = Number(last.headers.get("retry-after"));
		assert.ok(seconds >= 1 && seconds <= 3_600, String(seconds));
		assert.equal(await visitor.code(page), "TOO_EXPENSIVE");
		// Ada has her own.
		await ada.data(page);
	});

	it("is never below what is read, also where each pin of a board has another owner", async () => {
		using folder = temporaryFolder();
		await using server = await serveHere({ CORKBOARD_DATA: folder.path });
		const owner = await join(server.url, "owns_the_board");
		const boardId = await made(owner, "createBoard", { name: "b" }, "board");
		const friends = [];
		for (const name of ["friend_one", "friend_two", "friend_three"]) {
			const friend = await join(server.url, name);
			const add = { boardId, userId: friend.id };
			await made(owner, "addCollaborator", add, "board");
			friends.push(friend);
		}
		const pins: string[] = [];
		for (const friend of friends) {
			pins.push(await made(friend, "createPin", { boardId }, "pin"));
		}
		const [pinId] = pins as [string];
		const [author] = friends.slice(1) as [(typeof friends)[number]];
		const said = { pinId, text: "said" };
		const commentId = await made(author, "addComment", said, "comment");
		const own = await made(owner, "createBoard", { name: "own" }, "board");
		const saved = { pinId, boardId: own };
		await made(owner, "repin", saved, "pin");
		/** With the cost of each, which is what is read. */
		const exact: readonly (readonly [string, number])[] = [
			// The pin, its owner, its board, the board's owner.
			[`{ pin(id: "${pinId}") { details } }`, 4],
			[`{ pin(id: "${pinId}") { board { owner { id } } owner { id } } }`, 4],
			// The board and its owner; three edges, pins and owners.
			[`{ board(id: "${boardId}") { pins(first: 3) { nodes { id } } } }`, 11],
			// The user; an edge, a pin, its board, the board's owner.
			[
				`{ user(by: {id: "${friends[0]?.id}"}) { pins(first: 1) { nodes { id } } } }`,
				5,
			],
			// The comment and its author, and the pin as above.
			[`{ comment(id: "${commentId}") { text } }`, 6],
		];
		const asked = [
			`{ pin(id: "${pinId}") { viewerHasSaved viewerSaves { nodes { id board { name } } } viewerCanUpdate viewerCanDelete } }`,
			`{ board(id: "${boardId}") { viewerCanUpdate viewerCanDelete viewerCanPin pins(first: 3) { nodes { viewerHasSaved viewerCanDelete } } } }`,
			`{ comment(id: "${commentId}") { viewerCanUpdate viewerCanDelete pin { viewerHasSaved } } }`,
			"{ viewer { boards(first: 2) { nodes { pins(first: 3) { nodes { origin { id owner { id } } } } } } } }",
		];
		for (const who of [owner, author]) {
			const costOf = async (query: string) => {
				const { extensions } = (await who.post(query, {
					cost: true,
				})) as unknown as {
					extensions: { cost: { requested: number; actual: number } };
				};
				return extensions.cost;
			};
			for (const [query, cost] of exact) {
				assert.deepEqual(
					await costOf(query),
					{ requested: cost, actual: cost },
					query,
				);
			}
			for (const query of asked) {
				const { requested, actual } = await costOf(query);
				assert.ok(actual <= requested, `${actual} > ${requested}: ${query}`);
			}
		}
	});
});
