import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { join, made } from "../helpers/member.ts";
import { serve } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("the cost of an operation, over HTTP,", () => {
	it("is reported on request, and unused points return to the budget until it is empty", async () => {
		using folder = temporaryFolder();
		await using server = await serve({
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
		// The board and its owner, and a hundred times an edge and a pin; of
		// which there were three.
		assert.deepEqual(await extensions(), {
			cost: { requested: 202, actual: 2 + 3 + 3 },
		});
		assert.equal(await extensions("0"), undefined);
		// Six times 202 is more than there was.
		for (let n = 0; n < 6; n++) assert.equal((await ask(page)).status, 200);

		const expensive = `{ board(id: "${board}") { pins(first: 100) { nodes { likedBy(first: 5) { nodes { id } } } } } }`;
		const refused = await ask(expensive);
		assert.equal(refused.status, 400);
		assert.deepEqual(await refused.json(), {
			errors: [
				{
					message:
						"The operation costs 1202, over the limit of 1000. Most of the cost: board.pins.nodes.likedBy (1000), board.pins (200), board (2).",
					extensions: {
						code: "TOO_EXPENSIVE",
						cost: {
							requested: 1_202,
							limit: 1_000,
							fields: [
								{ path: "board.pins.nodes.likedBy", cost: 1_000 },
								{ path: "board.pins", cost: 200 },
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
});
