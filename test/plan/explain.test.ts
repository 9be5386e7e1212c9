import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { GraphQLError } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import type { ExplainOutput } from "../../src/plan/explain/explainOutput.ts";
import { printExplain } from "../../src/plan/explain/printExplain.ts";
import type { Statement } from "../../src/trace.ts";
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

interface Explained {
	readonly output: ExplainOutput;
	readonly errors: readonly GraphQLError[];
	readonly printed: string;
}

async function explain(
	{ planner, world }: ReturnType<typeof planning>,
	query: string,
	variables: Record<string, unknown> = {},
): Promise<Explained> {
	const { errors = [], extensions } = await planner.execute({
		document: valid(query),
		variables,
		context: world,
		explain: { hostOf: (shard) => `host${shard}` },
	});
	const output = extensions?.explain;
	assert.ok(output);
	return { output, errors, printed: printExplain(output, errors) };
}

describe("explain", () => {
	test("shows each step with its cost, shards, hosts, statements, cache answers and rows", async () => {
		const plan = profile();
		const { output, errors } = await explain(plan, QUERY, { id: plan.star });
		const { operation, cost, limit, statements, rows, steps } = output;
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
		const { startMs, ms, steps: below, statements: sent, ...rest } = fetch;
		assert.ok(startMs >= call.startMs + call.ms && ms > 0);
		assert.deepEqual(rest, {
			kind: "fetch",
			path: "user",
			field: "Query.user",
			target: "User",
			withPage: false,
			cost: 1,
			runs: 1,
			parents: 1,
			results: 1,
			errors: [],
			hiddenEdges: 0,
			shards: [1],
			modShards: [],
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
				sql: null,
				parameters: [],
				shared: false,
			},
		]);
		assert.deepEqual(
			below.map(({ kind, path, parents, results }) => [
				kind,
				path,
				parents,
				results,
			]),
			[
				["fetch", "user.best", 0, 0],
				["scan", "user.followers", 1, 2],
			],
		);
		const [nodes] = below[1]?.steps ?? [];
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

	test("outputs plain data that survives JSON", async () => {
		const plan = profile();
		const { output } = await explain(plan, QUERY, { id: plan.star });
		assert.deepEqual(JSON.parse(JSON.stringify(output)), output);
	});

	test("is in the extensions of the explained response, on request only", async () => {
		const plan = profile();
		const request = {
			document: valid(QUERY),
			variables: { id: plan.star },
			context: plan.world,
		};
		const plain = await plan.planner.execute(request);
		assert.deepEqual(Object.keys(plain), ["data"]);
		const ticks = plan.graph.ticks.length;
		const response = await plan.planner.execute({ ...request, explain: {} });
		assert.equal(plan.graph.ticks.length, 2 * ticks);
		assert.deepEqual(response.data, plain.data);
		const { steps, ...totals } = response.extensions?.explain ?? {};
		// No error messages: the response has them, worded for clients.
		assert.deepEqual(Object.keys(totals), [
			"operation",
			"cost",
			"limit",
			"ms",
			"statements",
			"rows",
			"written",
			"sql",
		]);
		assert.equal(steps?.[0]?.steps[0]?.results, 1);
	});

	test("marks a statement that two steps share, and counts it once", async () => {
		const plan = profile();
		const shared: Statement = {
			name: "merged",
			host: "memory",
			shard: 1,
			rows: 5,
			ms: 1,
		};
		const pages = plan.graph.readPages.bind(plan.graph);
		plan.graph.readPages = async (mapping, froms, page, call) => {
			call?.trace?.statement(shared);
			return pages(mapping, froms, page);
		};
		const { output, printed } = await explain(
			plan,
			"query ($id: ID!) { user(id: $id) { followers { totalCount } likes { totalCount } } }",
			{ id: plan.star },
		);
		assert.equal(output.statements, 2);
		assert.equal(output.rows, 1 + 5);
		assert.match(printed, /merged \(shared\), 5 rows/);
	});

	test("shows writes as steps below the call, one for equal changes, with outbox entries, cache invalidations, retries and errors", async () => {
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
			for (const [index, write] of likes.entries()) {
				write?.statement(commit(2 + index));
				write?.cache("redis", 1, true);
				write?.end({ rowsWritten: 1, outbox: { edges: 1, invalidations: 2 } });
			}
			likes[0]?.retry("deadlock");
			likes[1]?.grouped(6);
			likes[0]?.delivered();
			inverse?.fail(
				new CorkboardError("UNAVAILABLE", "words", {
					details: { host: "host4" },
				}),
			);
			return pages(mapping, froms, page);
		};
		const { output, printed } = await explain(
			plan,
			"query ($id: ID!) { user(id: $id) { followers { totalCount } } }",
			{ id: plan.star },
		);
		assert.equal(output.written, 2);
		assert.equal(output.statements, 3);
		const scan = output.steps[0]?.steps[0]?.steps[0];
		assert.deepEqual(
			scan?.steps.map(
				({ kind, path, target, runs, results, shards, hosts, errors }) => ({
					kind,
					path,
					target,
					runs,
					results,
					shards,
					hosts,
					errors,
				}),
			),
			[
				{
					kind: "write",
					path: "user.followers",
					target: "likePin",
					runs: 2,
					results: 2,
					shards: [2, 3],
					hosts: ["host2", "host3"],
					errors: [],
				},
				{
					kind: "write",
					path: "user.followers",
					target: "likePin.inverse",
					runs: 1,
					results: 0,
					shards: [4],
					hosts: ["host4"],
					errors: [{ code: "UNAVAILABLE", host: "host4", count: 1 }],
				},
			],
		);
		assert.deepEqual(scan?.steps[0]?.write, {
			verb: "transaction",
			unfinished: 0,
			retries: ["deadlock"],
			grouped: 6,
			outboxEntries: [
				{ kind: "edges", count: 2 },
				{ kind: "invalidations", count: 4 },
			],
			delivered: false,
			caches: [{ layer: "redis", keys: 2, ok: true }],
		});
		assert.ok(
			printed.includes(
				"2 writes → 2 rows · shard 2 3 on host2 host3 · 2 × commit, 0 rows · transaction · 1 retry: deadlock with another write · grouped with 6 other writes · outbox: 2 edges, 4 cache invalidations, pending · redis: 2 deleted keys",
			),
			printed,
		);
	});

	test("does not execute an operation over the cost limit", async () => {
		const plan = profile();
		const { output, errors, printed } = await explain(
			plan,
			"{ users(first: 100) { nodes { followers(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } }",
		);
		assert.equal(output.cost, 2_020_200);
		assert.deepEqual(
			errors.map(({ extensions }) => extensions.code),
			["TOO_EXPENSIVE"],
		);
		assert.deepEqual(plan.graph.ticks, []);
		assert.match(printed, /not reached/);
	});

	test("prints a tree with two lines for each step that ran", async () => {
		const plan = profile();
		plan.graph.down.add(plan.followers[0]);
		const { printed } = await explain(plan, QUERY, { id: plan.star });
		assert.deepEqual(printed.replaceAll(/[\d.]+ ms/g, "T ms").split("\n"), [
			"query Profile: cost 22 of 50,000, 3 statements, 3 rows, T ms",
			"└─ call  user  Query.user  cost 0",
			"   │    1 parent → 1 value · no statement · T ms",
			"   └─ fetch user  User  cost 1",
			"      │    1 id → 1 object · shard 1 on host1 memory · process 0/1 hits · objects, 1 row · T ms",
			"      ├─ fetch user.best  User  cost 1  not reached",
			"      └─ scan  user.followers  followUser  cost 10",
			"         │    1 list → 2 edges · shard 1 on host1 memory · process 0/1 hits · edges, 1 row · T ms",
			"         └─ fetch user.followers  User  cost 10",
			"            │    2 ids → 1 object · 1 error (UNAVAILABLE) · shard 1 on host1 · read with the scan",
			"            ├─ scan  user.followers.nodes.likes  likePin  cost 0",
			"            │       1 list → 0 edges · shard 1 on host1 memory · process 0/1 hits · edges, 1 row · T ms",
			"            └─ call  user.followers.nodes.isFriend  User.isFriend  cost 0",
			"                    1 parent → 0 values · shard 1 on host1 · no statement · T ms",
			"! UNAVAILABLE at user.followers.nodes.1: The host does not answer.",
		]);
	});
});
