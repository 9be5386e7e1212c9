import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "graphql";
import { createLog } from "../../src/server/log.ts";
import { startServer } from "../../src/server/server.ts";
import { type Ask, folderAsk, httpAsk } from "../../tools/compare/ask.ts";
import { compare } from "../../tools/compare/compare.ts";
import type { ExpectedUser } from "../../tools/compare/expected.ts";
import { ALWAYS_READY } from "../helpers/health.ts";
import { damage, raiseCount } from "./damage.ts";
import { type Imported, importedGraph, openFolder } from "./imported.ts";

const SEED = 1;
const EVERYBODY = { users: 1_000, seed: SEED };

let graph: Imported;
before(async () => {
	graph = await importedGraph(SEED);
});
after(() => graph[Symbol.dispose]());

describe("the comparison with the imported file", () => {
	it("finds no difference for an undamaged import, to the last page of the longest lists", async () => {
		await using at = await folderAsk(graph.folder);
		const summary = await compare(graph.expectation, at.ask, EVERYBODY);
		const { spelled, mismatches, users, walked } = summary;
		assert.deepEqual({ spelled, mismatches }, { spelled: [], mismatches: 0 });
		const [best = ""] = graph.expectation.users
			.toSorted((a, b) => followers(b) - followers(a))
			.map(({ username }) => username);
		assert.equal(users, 160);
		assert.equal(walked.username, best);
		assert.ok(walked.followers > 100);
		assert.equal(walked.pagesForward, Math.ceil(walked.followers / 50));
		assert.equal(walked.pagesBackward, walked.pagesForward);
		const pins = graph.expectation.users.flatMap((user) =>
			graph.expectation.list("User.pins", user),
		);
		assert.equal(summary.pins, pins.length);
		assert.equal(summary.origins, pins.length);
		assert.equal(
			summary.lists,
			5 * users + summary.boards + 2 * summary.pins,
			"each list of each object, once",
		);
		assert.ok(summary.pages > summary.lists + 8);
	});

	function followers(user: ExpectedUser): number {
		return graph.expectation.list("User.followers", user).length;
	}

	it("selects the same users for the same seed, and no more than requested", async () => {
		await using at = await folderAsk(graph.folder);
		const drawn = (seed: number) =>
			compare(graph.expectation, at.ask, { users: 7, seed });
		const one = await drawn(1);
		assert.deepEqual(await drawn(1), one);
		assert.equal(one.users, 7);
		assert.notEqual((await drawn(2)).edges, one.edges);
	});

	it("sends no operation over a server's limits of 2,000 tokens and a cost of 60,000", async () => {
		const corkboard = await openFolder(graph.folder);
		await using _ = corkboard;
		const costs: number[] = [];
		const ask: Ask = async (query, variables) => {
			const document = parse(query, { maxTokens: 2_000 });
			const cost = corkboard.planner.cost({ document, variables });
			assert.ok("total" in cost);
			costs.push(cost.total);
			const context = corkboard.createContext(null);
			const { data } = await corkboard.planner.execute({
				document,
				variables,
				context,
			});
			assert.ok(data);
			return data;
		};
		const { mismatches } = await compare(graph.expectation, ask, EVERYBODY);
		assert.equal(mismatches, 0);
		const mostExpensive = Math.max(...costs);
		assert.ok(
			mostExpensive > 30_000 && mostExpensive <= 60_000,
			`got ${mostExpensive}`,
		);
	});

	it("gives the same result over HTTP with several addresses in turn", async () => {
		const corkboard = await openFolder(graph.folder);
		await using _ = corkboard;
		const options = {
			...corkboard,
			...corkboard.config,
			log: createLog({ level: "silent", format: "json" }),
			port: 0,
			health: ALWAYS_READY,
		};
		await using one = await startServer(options);
		await using other = await startServer(options);
		const ask = httpAsk([`${one.url}/graphql`, `${other.url}/graphql`]);
		const { mismatches, edges } = await compare(
			graph.expectation,
			ask,
			EVERYBODY,
		);
		assert.equal(mismatches, 0);
		assert.ok(edges > 10_000);
		await assert.rejects(
			ask("{ user(by: {id: 7, username: 7}) { id } }", {}),
			/graphql: expected an answer without errors but got \d: GRAPHQL_VALIDATION_FAILED/,
		);
	});

	it("exits with 1 on a difference, and prints it", async () => {
		const run = (folder: string) =>
			new Promise<{ readonly code: unknown; readonly stdout: string }>(
				(resolve) => {
					const main = join(import.meta.dirname, "../../tools/compare/main.ts");
					execFile(
						process.execPath,
						[
							main,
							graph.file,
							"--data",
							folder,
							"--users",
							"1000",
							"--seed",
							"3",
						],
						{ timeout: 60_000 },
						(error, stdout) => resolve({ code: error?.code ?? 0, stdout }),
					);
				},
			);
		const good = await run(graph.folder);
		assert.equal(good.code, 0);
		assert.match(good.stdout, /^seed 3\n160 users.*\n.*\n0 mismatches\n/);
		const folder = graph.copy();
		damage(folder, "db", (database) => raiseCount(database, "placePin"));
		const bad = await run(folder);
		assert.equal(bad.code, 1);
		assert.match(
			bad.stdout,
			/✗ Board\.pins of b:\S+: totalCount: expected \d+ but got: \d+/,
		);
		assert.match(bad.stdout, /\n1 mismatches\n/);
	});
});
