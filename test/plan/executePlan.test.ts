import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { GraphQLError } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

/** A user with `count` followers, each of whom has the user and a board's pin. */
function crowd(count: number) {
	const plan = planning();
	const { graph } = plan;
	const star = graph.add("User", { name: "star" });
	const board = graph.add("Board", { name: "Kitchens" });
	const followers: Id[] = [];
	for (let at = 0; at < count; at++) {
		const follower = graph.add("User", { name: `f${at}`, best_id: star });
		const pin = graph.add("Pin", { board_id: board, user_id: star });
		graph.link("followUser", star, follower);
		graph.link("followUser", follower, star);
		graph.link("likePin", follower, pin);
		followers.push(follower);
	}
	return { ...plan, star, board, followers };
}

describe("calls of the graph", () => {
	const PROFILE = `query ($id: ID!) { user(id: $id) { name followers(first: 50) { nodes {
		name best { name } isFriend likes { edges { at node { board { name } owner { name } } } }
	} } } }`;

	for (const count of [1, 50]) {
		test(`are one per step and level, siblings in one tick, with ${count} in each list`, async () => {
			const { graph, world, answer, star } = crowd(count);
			const { data, errors } = await answer(PROFILE, { id: star });
			assert.equal(errors, undefined);
			assert.equal(JSON.stringify(data).split('"Kitchens"').length, count + 1);
			assert.deepEqual(graph.ticks, [
				["objects 1"],
				["pages followUser 1"],
				[`objects ${count}`, `pages likePin ${count}`],
				[`objects ${count}`, `objects ${count}`],
			]);
			assert.deepEqual(world.calls, ["Query.user 1", `User.isFriend ${count}`]);
		});
	}

	test("are none for what nothing leads to", async () => {
		const { graph, world, answer, followers } = crowd(1);
		const lonely = graph.add("User", { name: "lonely" });
		graph.hidden.add(followers[0] as Id);
		await answer(PROFILE, { id: lonely });
		assert.deepEqual(graph.ticks, [["objects 1"], ["pages followUser 1"]]);
		assert.deepEqual(world.calls, ["Query.user 1"]);
	});

	test("want only the parts of a page that something looks at", async () => {
		const { graph, answer, star } = crowd(1);
		const nothing = {
			edges: false,
			hasNextPage: false,
			hasPreviousPage: false,
			cursors: false,
			totalCount: false,
		};
		await answer(
			`query ($id: ID!) { user(id: $id) {
				a: followers { totalCount }
				b: followers { pageInfo { hasNextPage } }
				c: followers { pageInfo { hasPreviousPage startCursor } }
				d: followers { nodes { id } }
				e: followers { edges { cursor } pageInfo { endCursor } }
				f: followers { __typename }
			} }`,
			{ id: star },
		);
		assert.deepEqual(graph.pageFields, [
			{ ...nothing, totalCount: true },
			{ ...nothing, hasNextPage: true },
			{ ...nothing, hasPreviousPage: true, cursors: true },
			{ ...nothing, edges: true },
			{ ...nothing, edges: true, cursors: true },
			nothing,
		]);
	});

	test("are made once for fields that are merged, and once for each alias", async () => {
		const { graph, answer, star } = crowd(3);
		await answer(
			"query ($id: ID!) { user(id: $id) { followers { totalCount } ...F a: followers { totalCount } } } fragment F on User { followers { nodes { id } } }",
			{ id: star },
		);
		assert.deepEqual(graph.ticks, [
			["objects 1"],
			["pages followUser 1", "pages followUser 1"],
		]);
	});

	test("are a hundred for a hundred aliases, in one tick", async () => {
		const { graph, answer, star } = crowd(1);
		const aliases = Array.from(
			{ length: 100 },
			(_, at) => `a${at}: followers(first: 1) { nodes { name } }`,
		);
		const { data } = await answer(
			`query ($id: ID!) { user(id: $id) { ${aliases.join(" ")} } }`,
			{ id: star },
		);
		assert.equal(graph.ticks.length, 2);
		assert.equal(graph.ticks[1]?.length, 100);
		assert.equal(JSON.stringify(data).split('"f0"').length, 101);
	});
});

describe("errors", () => {
	test("stand at their own position alone", async () => {
		const { graph, answer, star, followers } = crowd(3);
		graph.down.add(followers[1] as Id);
		const answered = await answer(
			"query ($id: ID!) { user(id: $id) { followers { nodes { name } } } }",
			{ id: star },
		);
		assert.deepEqual(answered.data, {
			user: { followers: { nodes: [{ name: "f2" }, null, { name: "f0" }] } },
		});
		assert.deepEqual(answered.errors, [
			{
				message: "The host does not answer.",
				path: ["user", "followers", "nodes", 1],
				locations: [{ line: 1, column: 48 }],
				extensions: { code: "UNAVAILABLE" },
			},
		]);
	});

	test("carry the error they came from, for the log", async () => {
		const { planner, world, graph, star } = crowd(1);
		graph.down.add(star);
		const { errors = [] } = await planner.execute({
			document: valid("query ($id: ID!) { user(id: $id) { name } }"),
			variables: { id: star },
			context: world,
		});
		const [error] = errors;
		assert.ok(error instanceof GraphQLError);
		assert.ok(error.originalError instanceof CorkboardError);
		assert.equal(error.originalError.code, "UNAVAILABLE");
	});

	test("nobody foresaw are INTERNAL and keep their words to themselves", async () => {
		const { planner, world, answer } = planning();
		const query = '{ broken(how: "throw") echo }';
		const answered = await answer(query);
		assert.equal(answered.data?.broken, null);
		assert.equal(typeof answered.data?.echo, "string");
		assert.equal(JSON.stringify(answered).includes("secret words"), false);
		assert.deepEqual(errorsOf(answered), ["broken INTERNAL"]);
		const { errors } = await planner.execute({
			document: valid(query),
			context: world,
		});
		const cause = errors?.[0]?.originalError?.cause;
		assert.ok(cause instanceof Error);
		assert.equal(cause.message, "secret words");
	});

	test("of a graph that throws stand at every parent", async () => {
		const { graph, answer, star } = crowd(2);
		graph.bug = new Error("secret words");
		const answered = await answer(
			"query ($id: ID!) { a: user(id: $id) { id } b: user(id: $id) { id } }",
			{ id: star },
		);
		assert.deepEqual(answered.data, { a: null, b: null });
		assert.deepEqual(errorsOf(answered), ["a INTERNAL", "b INTERNAL"]);
	});

	test("are what a resolver gets that does not answer each parent", async () => {
		const { answer } = planning();
		const answered = await answer('{ broken(how: "short") }');
		assert.deepEqual(answered.data, { broken: null });
		assert.deepEqual(errorsOf(answered), ["broken INTERNAL"]);
	});

	test("of values that do not serialize do not quote them", async () => {
		const { graph, answer } = planning();
		const id = graph.add("User", { age: "secret words" });
		const answered = await answer(
			"query ($id: ID!) { user(id: $id) { age } }",
			{ id },
		);
		assert.deepEqual(answered.data, { user: { age: null } });
		assert.deepEqual(errorsOf(answered), ["user.age INTERNAL"]);
		assert.equal(JSON.stringify(answered).includes("secret"), false);
	});

	test("of arguments stand at every parent, and nothing is read for them", async () => {
		const { graph, answer, star } = crowd(2);
		const answered = await answer(
			"query ($id: ID!, $n: Int) { user(id: $id) { followers { nodes { likes(first: $n) { totalCount } } } } }",
			{ id: star, n: 101 },
		);
		assert.deepEqual(errorsOf(answered), [
			"user.followers.nodes.0.likes BAD_USER_INPUT",
			"user.followers.nodes.1.likes BAD_USER_INPUT",
		]);
		assert.deepEqual(graph.ticks.length, 2);
	});
});

describe("the deadline", () => {
	test("makes what is pending UNAVAILABLE and lets the rest go out", async () => {
		const { answer, late, world } = planning();
		const controller = new AbortController();
		const answering = answer(
			'{ echo broken(how: "late") table }',
			{},
			{ signal: controller.signal },
		);
		while (world.calls.length < 3) await new Promise(setImmediate);
		await new Promise(setImmediate);
		controller.abort();
		const answered = await answering;
		late.resolve();
		assert.equal(typeof answered.data?.echo, "string");
		assert.equal(answered.data?.broken, null);
		assert.deepEqual(errorsOf(answered), [
			"broken UNAVAILABLE",
			"table.2.1 INTERNAL",
		]);
	});

	test("makes each place of a level UNAVAILABLE where the graph is late", async () => {
		const { graph, answer, star } = crowd(2);
		const controller = new AbortController();
		const held = Promise.withResolvers<void>();
		const answering = answer(
			"query ($id: ID!) { user(id: $id) { followers { nodes { name likes { totalCount } } } } }",
			{ id: star },
			{ signal: controller.signal },
		);
		while (graph.ticks.length < 2) await new Promise(setImmediate);
		graph.held = held.promise;
		controller.abort();
		const answered = await answering;
		held.resolve();
		assert.deepEqual(answered.data, { user: { followers: null } });
		assert.deepEqual(errorsOf(answered), ["user.followers UNAVAILABLE"]);
	});

	test("that has passed lets nothing begin", async () => {
		const { graph, world, answer } = planning();
		const answered = await answer(
			"{ __typename echo }",
			{},
			{ signal: AbortSignal.abort() },
		);
		assert.deepEqual(answered.data, { __typename: "Query", echo: null });
		assert.deepEqual(errorsOf(answered), ["echo UNAVAILABLE"]);
		assert.deepEqual(world.calls, []);
		assert.deepEqual(graph.ticks, []);
	});

	test("leaves no listener behind on a signal that outlives the request", async () => {
		const { answer } = planning();
		const { signal } = new AbortController();
		let listeners = 0;
		const add = signal.addEventListener.bind(signal);
		const remove = signal.removeEventListener.bind(signal);
		signal.addEventListener = (...given: Parameters<typeof add>) => {
			listeners++;
			add(...given);
		};
		signal.removeEventListener = (...given: Parameters<typeof remove>) => {
			listeners--;
			remove(...given);
		};
		await answer("{ echo }", {}, { signal });
		assert.equal(listeners, 0);
	});
});

describe("mutations", () => {
	test("run one after another, each with all its selections", async () => {
		const { graph, world, answer } = planning();
		world.user = graph.add("User", { name: "ada" });
		const answered = await answer(
			"mutation { a: add(amount: 1) { sum user { name } } b: add(amount: 2) { sum user { followers { totalCount } } } }",
		);
		assert.deepEqual(answered, {
			data: {
				a: { sum: 1, user: { name: "ada" } },
				b: { sum: 3, user: { followers: { totalCount: 0 } } },
			},
		});
		assert.deepEqual(graph.ticks, [
			["objects 1"],
			["objects 1"],
			["pages followUser 1"],
		]);
	});

	test("go on after one that failed", async () => {
		const { answer } = planning();
		const answered = await answer(
			"mutation { a: add(amount: 0) { sum } b: add(amount: 2) { sum } }",
		);
		assert.deepEqual(answered.data, { a: null, b: { sum: 2 } });
		assert.deepEqual(errorsOf(answered), ["a CONFLICT"]);
	});

	test("that had not begun at the deadline are not begun", async () => {
		const { graph, world, answer } = planning();
		world.user = graph.add("User", { name: "ada" });
		const controller = new AbortController();
		graph.held = new Promise<void>(() => {});
		const answering = answer(
			"mutation { a: add(amount: 1) { sum user { name } } b: add(amount: 2) { sum } }",
			{},
			{ signal: controller.signal },
		);
		while (graph.ticks.length < 1) await new Promise(setImmediate);
		controller.abort();
		const answered = await answering;
		assert.deepEqual(answered.data, { a: { sum: 1, user: null }, b: null });
		assert.deepEqual(errorsOf(answered), [
			"a.user UNAVAILABLE",
			"b UNAVAILABLE",
		]);
		assert.equal(world.sum, 1);
	});
});
