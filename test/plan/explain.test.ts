import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Statement } from "../../src/diagnostics.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import type { ExplainWithErrors } from "../../src/plan/explainRecorder.ts";
import { printExplain } from "../../src/plan/printExplain.ts";
import { planning, valid } from "../helpers/planning.ts";

const QUERY = `query Profile($id: ID!) { user(id: $id) {
	name best { name }
	followers(first: 10) { totalCount nodes { likes { totalCount } isFriend } }
} }`;

function profile() {
	const plan = planning();
	const { graph } = plan;
	const star = graph.add("User", { name: "star" });
	const followers = [0, 1].map(() => graph.add("User", { name: "f" })) as [
		Id,
		Id,
	];
	for (const follower of followers) graph.link("followUser", star, follower);
	return { ...plan, star, followers };
}

async function explained(
	{ planner, world }: ReturnType<typeof planning>,
	query: string,
	variables: Record<string, unknown> = {},
): Promise<ExplainWithErrors> {
	const answer = await planner.explain({
		document: valid(query),
		variables,
		context: world,
		hostOf: (shard) => `host${shard}`,
	});
	assert.ok("steps" in answer);
	return answer;
}

describe("explain", () => {
	test("shows each step with its cost, shards, hosts, statements, cache answers and rows", async () => {
		const plan = profile();
		const { operation, cost, limit, statements, rows, steps, errors } =
			await explained(plan, QUERY, { id: plan.star });
		assert.equal(operation, "query Profile");
		assert.equal(cost, 1 + 1 + 20);
		assert.equal(limit, 50_000);
		assert.equal(statements, 3);
		assert.equal(rows, 1 + 1 + 2);
		assert.deepEqual(errors, []);

		assert.equal(steps.length, 1);
		const [call] = steps;
		assert.ok(call);
		assert.equal(call.kind, "call");
		assert.equal(call.target, "Query.user");
		assert.equal(call.results, 1);
		const [fetch] = call.steps;
		assert.ok(fetch);
		const { startMs: at, ms, steps: under, statements: sent, ...rest } = fetch;
		assert.ok(at >= call.startMs + call.ms && ms > 0);
		assert.deepEqual(rest, {
			kind: "fetch",
			path: "user",
			field: "Query.user",
			reads: "User",
			withPage: false,
			cost: 1,
			runs: 1,
			parents: 1,
			answers: 1,
			failures: [],
			shards: [1],
			hosts: ["host1", "memory"],
			cache: [{ layer: "process", hits: 0, misses: 1 }],
			rows: 1,
			write: null,
		});
		assert.deepEqual(sent, [
			{
				name: "objects",
				host: "memory",
				shard: 1,
				rows: 1,
				ms: 0.1,
				shared: false,
			},
		]);
		assert.deepEqual(
			under.map(({ kind, path, parents, results: answers }) => [
				kind,
				path,
				parents,
				answers,
			]),
			[
				["fetch", "user.best", 0, 0],
				["scan", "user.followers", 1, 2],
			],
		);
		const [nodes] = under[1]?.steps ?? [];
		assert.ok(nodes?.withPage);
		assert.deepEqual([nodes.cost, nodes.parents, nodes.results], [10, 2, 2]);
		assert.deepEqual(
			nodes.steps.map(({ kind, path, parents, cost }) => [
				kind,
				path,
				parents,
				cost,
			]),
			[
				["scan", "user.followers.nodes.likes", 2, 0],
				["call", "user.followers.nodes.isFriend", 2, 0],
			],
		);
	});

	test("is plain data, ready for JSON", async () => {
		const plan = profile();
		const answer = await explained(plan, QUERY, { id: plan.star });
		assert.deepEqual(JSON.parse(JSON.stringify(answer)), answer);
	});

	test("comes with the answer of the run it tells of, where that is asked for", async () => {
		const plan = profile();
		const request = {
			document: valid(QUERY),
			variables: { id: plan.star },
			context: plan.world,
		};
		const plain = await plan.planner.execute(request);
		assert.deepEqual(Object.keys(plain), ["data"]);
		const ticks = plan.graph.ticks.length;
		const answer = await plan.planner.execute({ ...request, explain: {} });
		assert.equal(plan.graph.ticks.length, 2 * ticks);
		assert.deepEqual(answer.data, plain.data);
		const { steps, ...whole } = answer.extensions?.explain ?? {};
		// The messages of errors are for the answer, which words them for clients.
		assert.deepEqual(Object.keys(whole), [
			"operation",
			"cost",
			"limit",
			"ms",
			"statements",
			"rows",
			"written",
		]);
		assert.equal(steps?.[0]?.steps[0]?.results, 1);
	});

	test("says which statement was told to two steps, and counts it once", async () => {
		const plan = profile();
		const one: Statement = {
			name: "merged",
			host: "memory",
			shard: 1,
			rows: 5,
			ms: 1,
		};
		const pages = plan.graph.readPages.bind(plan.graph);
		plan.graph.readPages = async (mapping, froms, page, call) => {
			call?.trace?.statement(one);
			return pages(mapping, froms, page);
		};
		const answer = await explained(
			plan,
			"query ($id: ID!) { user(id: $id) { followers { totalCount } likes { totalCount } } }",
			{ id: plan.star },
		);
		assert.equal(answer.statements, 2);
		assert.equal(answer.rows, 1 + 5);
		assert.match(printExplain(answer), /merged \(shared\), 5 rows/);
	});

	test("shows what a step wrote as steps below it: those that change the same as one, with debts, caches, tries and failures", async () => {
		const plan = profile();
		const commit = (shard: number): Statement => {
			return { name: "commit", host: `host${shard}`, shard, rows: 0, ms: 1 };
		};
		const pages = plan.graph.readPages.bind(plan.graph);
		plan.graph.readPages = async (mapping, froms, page, call) => {
			const begin = (changes: string[], shard: number) =>
				call?.trace?.startWrite({
					verb: "transaction",
					changes,
					shards: [shard],
				});
			const likes = [begin(["likePin"], 2), begin(["likePin"], 3)];
			const inverse = begin(["likePin.inverse"], 4);
			for (const [at, write] of likes.entries()) {
				write?.statement(commit(2 + at));
				write?.cache("bury", "redis", 1, true);
				write?.end({ rowsWritten: 1, outbox: { edges: 1, invalidations: 2 } });
			}
			likes[0]?.retry("conflict");
			likes[1]?.grouped(6);
			likes[0]?.delivered();
			inverse?.fail(
				new CorkboardError("UNAVAILABLE", "words", {
					details: { host: "host4" },
				}),
			);
			return pages(mapping, froms, page);
		};
		const answer = await explained(
			plan,
			"query ($id: ID!) { user(id: $id) { followers { totalCount } } }",
			{ id: plan.star },
		);
		assert.equal(answer.written, 2);
		assert.equal(answer.statements, 3);
		const scan = answer.steps[0]?.steps[0]?.steps[0];
		assert.deepEqual(
			scan?.steps.map(
				({
					kind,
					path,
					target: reads,
					runs,
					results: answers,
					shards,
					hosts,
					errors: failures,
				}) => ({
					kind,
					path,
					reads,
					runs,
					answers,
					shards,
					hosts,
					failures,
				}),
			),
			[
				{
					kind: "write",
					path: "user.followers",
					reads: "likePin",
					runs: 2,
					answers: 2,
					shards: [2, 3],
					hosts: ["host2", "host3"],
					failures: [],
				},
				{
					kind: "write",
					path: "user.followers",
					reads: "likePin.inverse",
					runs: 1,
					answers: 0,
					shards: [4],
					hosts: ["host4"],
					failures: [{ code: "UNAVAILABLE", host: "host4", count: 1 }],
				},
			],
		);
		assert.deepEqual(scan?.steps[0]?.write, {
			verb: "transaction",
			unfinished: 0,
			again: ["conflict"],
			together: 6,
			owes: [
				{ kind: "edges", count: 2 },
				{ kind: "invalidations", count: 4 },
			],
			paid: false,
			caches: [{ layer: "redis", verb: "bury", keys: 2, ok: true }],
		});
		assert.ok(
			printExplain(answer).includes(
				"2 writes → 2 rows · shard 2 3 on host2 host3 · 2 × commit, 0 rows · transaction · run again 1 time: met another write · together with 6 others · owes 2 edges, 4 cache keys, left to the sweeper · redis buried 2 keys",
			),
			printExplain(answer),
		);
	});

	test("does not run what is over the limit", async () => {
		const plan = profile();
		const answer = await explained(
			plan,
			"{ users(first: 100) { nodes { followers(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } }",
		);
		assert.equal(answer.cost, 2_020_200);
		assert.deepEqual(
			answer.errors.map(({ code }) => code),
			["TOO_EXPENSIVE"],
		);
		assert.deepEqual(plan.graph.ticks, []);
		assert.match(printExplain(answer), /not reached/);
	});

	test("prints a tree that is read at a glance", async () => {
		const plan = profile();
		plan.graph.down.add(plan.followers[0]);
		const answer = await explained(plan, QUERY, { id: plan.star });
		const text = printExplain(answer).replaceAll(/\d+(?:\.\d\d)? ms/g, "T ms");
		assert.deepEqual(text.split("\n"), [
			"query Profile: cost 22 of at most 50000, 3 statements, 3 rows, T ms",
			"└─ call  user  Query.user  cost 0",
			"   │    1 parent → 1 value · no statement · T ms",
			"   └─ fetch user  User  cost 1",
			"      │    1 id → 1 object · shard 1 on host1 memory · process 0/1 · objects, 1 row · T ms",
			"      ├─ fetch user.best  User  cost 1  not reached",
			"      └─ scan  user.followers  followUser  cost 10",
			"         │    1 list → 2 edges · shard 1 on host1 memory · process 0/1 · edges, 1 row · T ms",
			"         └─ fetch user.followers  User  cost 10",
			"            │    2 ids → 1 object · 1 failed (UNAVAILABLE) · shard 1 on host1 · with the scan",
			"            ├─ scan  user.followers.nodes.likes  likePin  cost 0",
			"            │       1 list → 0 edges · shard 1 on host1 memory · process 0/1 · edges, 1 row · T ms",
			"            └─ call  user.followers.nodes.isFriend  User.isFriend  cost 0",
			"                    1 parent → 0 values · shard 1 on host1 · no statement · T ms",
			"! UNAVAILABLE at user.followers.nodes.1: The host does not answer.",
		]);
	});
});
