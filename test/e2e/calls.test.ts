import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "graphql";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { packId, unpackId } from "../../src/id/ids.ts";
import { callsOf } from "../helpers/embedded.ts";

const PAGE = `query ($id: ID!, $first: Int) {
	board(id: $id) {
		name
		pins(first: $first) {
			totalCount
			pageInfo { hasNextPage endCursor }
			nodes { details owner { username } viewerLikes }
		}
	}
}`;

/** Round trips depend on the depth of a query, never on the length of its lists. */
describe("a board page with its pins and their owners", () => {
	let folder: string;
	let corkboard: Corkboard;
	let ids: Record<string, string>;

	before(async () => {
		folder = mkdtempSync(join(tmpdir(), "corkboard-calls-"));
		const config = readConfig({ CORKBOARD_DATA: folder });
		{
			await using writer = await openCorkboard(pinsApp, config, "readWrite");
			const writes = writer.createContext(null).writes();
			const user = (username: string) =>
				writes.create({ type: "User", data: { username } });
			const [owner, ...savers] = await Promise.all(
				Array.from({ length: 26 }, (_, n) => user(`saver_${n}`)),
			);
			const board = await writes.create({
				type: "Board",
				data: { name: "page", user_id: owner as string },
			});
			for (const saver of savers) {
				await writes.create({
					type: "Pin",
					data: { details: "pin", board_id: board, user_id: saver },
				});
			}
			ids = { board, viewer: owner as string };
		}
		// Opened again, so that its caches are empty.
		corkboard = await openCorkboard(pinsApp, config, "readWrite");
	});
	after(async () => {
		await corkboard[Symbol.asyncDispose]();
		rmSync(folder, { recursive: true, force: true });
	});

	async function ask(first: number): Promise<unknown> {
		const response = await corkboard.planner.execute({
			document: parse(PAGE),
			variables: { id: ids.board, first },
			context: corkboard.createContext(ids.viewer as never),
		});
		assert.equal(response.errors, undefined);
		return response.data;
	}

	it("takes one storage call per level with cold caches, and none with warm ones", async () => {
		const cold = await callsOf(() => ask(25));
		// The board with the viewer's block lists; the board's owner, which
		// decides its visibility; its pins; the pins' objects and their owners.
		assert.deepEqual(cold.slice(0, 6), [
			"scanLists 2",
			"readObjects 1",
			"readObjects 1",
			"scanLists 1",
			"readObjects 25",
			"readObjects 25",
		]);
		// The owners are read already. The viewer's likes remain: a list that is shorter than its head.
		assert.deepEqual(cold.slice(6), ["scanLists 1"]);
		const warm = await callsOf(async () => {
			const data = (await ask(25)) as {
				board: { pins: { nodes: { owner: { username: string } }[] } };
			};
			assert.equal(
				new Set(data.board.pins.nodes.map(({ owner }) => owner.username)).size,
				25,
			);
		});
		assert.deepEqual(warm, []);
	});

	it("takes as many calls for 3 pins as for 25", async () => {
		const calls = async (first: number) => {
			await using fresh = await openCorkboard(
				pinsApp,
				corkboard.config,
				"readOnly",
			);
			return callsOf(() =>
				fresh.planner.execute({
					document: parse(PAGE),
					variables: { id: ids.board, first },
					context: fresh.createContext(null),
				}),
			);
		};
		assert.equal((await calls(3)).length, (await calls(25)).length);
	});

	it("makes no storage call for ids that no object can have", async () => {
		const { shard } = unpackId(ids.board as never);
		const nothing = packId({ shard, type: 900, local: 1 });
		const response = await corkboard.planner.execute({
			document: parse(
				`{ a: node(id: "${nothing}") { id } b: board(id: "9223372036854775807") { id } }`,
			),
			context: corkboard.createContext(null),
		});
		assert.deepEqual({ ...response.data }, { a: null, b: null });
		assert.equal(response.errors, undefined);
	});
});
