import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { describe, test } from "node:test";
import { GraphQLError } from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

/** A user with `count` followers. Each follower follows the user back and likes a pin. */
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

describe("graph calls", () => {
	const PROFILE = `query ($id: ID!) { user(id: $id) { name followers(first: 50) { nodes {
		name best { name } isFriend likes { edges { at node { board { name } owner { name } } } }
	} } } }`;

	for (const count of [1, 50]) {
		test(`are one per step and level, with siblings in one tick, for lists of ${count}`, async () => {
			const { graph, world, execute, star } = crowd(count);
			const { data, errors } = await execute(PROFILE, { id: star });
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

	test("are not made for steps that no object reaches", async () => {
		const { graph, world, execute, followers } = crowd(1);
		const lonely = graph.add("User", { name: "lonely" });
		graph.hidden.add(followers[0] as Id);
		await execute(PROFILE, { id: lonely });
		assert.deepEqual(graph.ticks, [["objects 1"], ["pages followUser 1"]]);
		assert.deepEqual(world.calls, ["Query.user 1"]);
	});

	test("request only the selected fields of a page", async () => {
		const { graph, execute, star } = crowd(1);
		const nothing = {
			edges: false,
			hasNextPage: false,
			hasPreviousPage: false,
			cursors: false,
			totalCount: false,
		};
		await execute(
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

	test("are made once for merged fields, and once for each alias", async () => {
		const { graph, execute, star } = crowd(3);
		await execute(
			"query ($id: ID!) { user(id: $id) { followers { totalCount } ...F a: followers { totalCount } } } fragment F on User { followers { nodes { id } } }",
			{ id: star },
		);
		assert.deepEqual(graph.ticks, [
			["objects 1"],
			["pages followUser 1", "pages followUser 1"],
		]);
	});

	test("of 100 aliases are made in one tick", async () => {
		const { graph, execute, star } = crowd(1);
		const aliases = Array.from(
			{ length: 100 },
			(_, at) => `a${at}: followers(first: 1) { nodes { name } }`,
		);
		const { data } = await execute(
			`query ($id: ID!) { user(id: $id) { ${aliases.join(" ")} } }`,
			{ id: star },
		);
		assert.equal(graph.ticks.length, 2);
		assert.equal(graph.ticks[1]?.length, 100);
		assert.equal(JSON.stringify(data).split('"f0"').length, 101);
	});
});

describe("an operation whose data is in memory", () => {
	test("is answered at once, without a promise and without a signal", () => {
		const { graph, world, planner, star } = crowd(5);
		graph.isInMemory = true;
		const request = {
			document: valid(
				`query ($id: ID!) { __schema { queryType { name } } user(id: $id) { name followers(first: 5) { edges { cursor node {
					best { name } isFriend likes { nodes { board { name } owner { name } } }
				} } totalCount } } nodes(ids: [$id, "9"]) { id } echo }`,
			),
			variables: { id: star },
			context: world,
			deadline: {
				isOver: false,
				get signal(): AbortSignal {
					throw new Error("Nothing waits.");
				},
			},
			admit: () => null,
		};
		let promises = 0;
		const hook = createHook({
			init(_, type) {
				if (type === "PROMISE") promises++;
			},
		}).enable();
		const answer = planner.answer(request);
		hook.disable();
		assert.equal(promises, 0);
		assert.ok(!(answer instanceof Promise));
		assert.deepEqual(answer.errors, []);
		assert.equal(answer.data?.split('"Kitchens"').length, 6);
	});

	test("is answered the same from texts that its objects keep", async () => {
		const { graph, planner, world } = planning();
		graph.isInMemory = true;
		const id = graph.add("User", { name: 'quo"ted', bio: "b", age: 7 });
		const unfit = graph.add("User", { bio: "b", age: "secret words" });
		const ask = async (selection: string) => {
			const answer = await planner.answer({
				document: valid(
					`{ nodes(ids: ["${id}", "${unfit}"]) { ... on User { ${selection} } } }`,
				),
				context: world,
			});
			return [answer.data, answer.errors.map(({ path }) => path?.join("."))];
		};
		const selections = [
			"bio id",
			"b: bio id",
			"bio i: id",
			"id bio",
			"bio id age",
			"bio id name",
			"bio __typename id best { id }",
			"bio age best { id }",
		];
		const before = new Map<string, unknown>();
		for (const selection of selections) {
			for (let time = 0; time < 4; time++) {
				const answer = await ask(selection);
				assert.deepEqual(answer, before.get(selection) ?? answer);
				before.set(selection, answer);
			}
		}
		for (const selection of selections.toReversed()) {
			assert.deepEqual(await ask(selection), before.get(selection));
		}
		assert.deepEqual(before.get("b: bio id"), [
			`{"nodes":[{"b":"b","id":"${id}"},{"b":"b","id":"${unfit}"}]}`,
			[],
		]);
		assert.deepEqual(before.get("bio id age"), [
			`{"nodes":[{"bio":"b","id":"${id}","age":7},{"bio":"b","id":"${unfit}","age":null}]}`,
			["nodes.1.age"],
		]);
		assert.deepEqual(before.get("bio id name"), [
			`{"nodes":[{"bio":"b","id":"${id}","name":"quo\\"ted"},null]}`,
			["nodes.1.name"],
		]);
		graph.change(id, { name: "new", bio: "c" });
		assert.deepEqual(await ask("bio id"), [
			`{"nodes":[{"bio":"c","id":"${id}"},{"bio":"b","id":"${unfit}"}]}`,
			[],
		]);
	});

	test("may have hundreds of levels", async () => {
		const { graph, planner, world } = planning();
		graph.isInMemory = true;
		const levels = 500;
		let id = graph.add("User", { name: "last" });
		for (let level = 0; level < levels; level++) {
			id = graph.add("User", { best_id: id });
		}
		const { data, errors } = await planner.answer({
			document: valid(
				`{ user(id: "${id}") ${"{ best ".repeat(levels)}{ name }${"}".repeat(levels)} }`,
			),
			context: world,
		});
		assert.deepEqual(errors, []);
		assert.equal(
			data?.indexOf('"last"'),
			`{"user":`.length + levels * `{"best":`.length + `{"name":`.length,
		);
	});

	test("goes on where something is missing, and does not start again", async () => {
		const { graph, world, planner, star } = crowd(3);
		const before = world.calls.length;
		const answer = planner.answer({
			document: valid(
				"query ($id: ID!) { user(id: $id) { followers { nodes { isFriend } } } }",
			),
			variables: { id: star },
			context: world,
		});
		assert.ok(answer instanceof Promise);
		// What is asked for from now on is in memory.
		graph.isInMemory = true;
		assert.deepEqual((await answer).errors, []);
		assert.deepEqual(world.calls.slice(before), [
			"Query.user 1",
			"User.isFriend 3",
		]);
		assert.deepEqual(graph.ticks, [["objects 1"]]);
	});
});

describe("errors", () => {
	test("null only their own position", async () => {
		const { graph, execute, star, followers } = crowd(3);
		graph.down.add(followers[1] as Id);
		const response = await execute(
			"query ($id: ID!) { user(id: $id) { followers { nodes { name } } } }",
			{ id: star },
		);
		assert.deepEqual(response.data, {
			user: { followers: { nodes: [{ name: "f2" }, null, { name: "f0" }] } },
		});
		assert.deepEqual(response.errors, [
			{
				message: "The host does not answer.",
				path: ["user", "followers", "nodes", 1],
				locations: [{ line: 1, column: 48 }],
				extensions: { code: "UNAVAILABLE" },
			},
		]);
	});

	test("keep their cause for the log", async () => {
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

	test("of unknown kinds become INTERNAL without their messages", async () => {
		const { planner, world, execute } = planning();
		const query = '{ broken(how: "throw") echo }';
		const response = await execute(query);
		assert.equal(response.data?.broken, null);
		assert.equal(typeof response.data?.echo, "string");
		assert.equal(JSON.stringify(response).includes("secret words"), false);
		assert.deepEqual(errorsOf(response), ["broken INTERNAL"]);
		const { errors } = await planner.execute({
			document: valid(query),
			context: world,
		});
		const cause = errors?.[0]?.originalError?.cause;
		assert.ok(cause instanceof Error);
		assert.equal(cause.message, "secret words");
	});

	test("thrown by the graph are raised for every parent", async () => {
		const { graph, execute, star } = crowd(2);
		graph.bug = new Error("secret words");
		const response = await execute(
			"query ($id: ID!) { a: user(id: $id) { id } b: user(id: $id) { id } }",
			{ id: star },
		);
		assert.deepEqual(response.data, { a: null, b: null });
		assert.deepEqual(errorsOf(response), ["a INTERNAL", "b INTERNAL"]);
	});

	test("are raised if a resolver returns too few results", async () => {
		const { execute } = planning();
		const response = await execute('{ broken(how: "short") }');
		assert.deepEqual(response.data, { broken: null });
		assert.deepEqual(errorsOf(response), ["broken INTERNAL"]);
	});

	test("of serialization do not quote the value", async () => {
		const { graph, execute } = planning();
		const id = graph.add("User", { age: "secret words" });
		const response = await execute(
			"query ($id: ID!) { user(id: $id) { age } }",
			{ id },
		);
		assert.deepEqual(response.data, { user: { age: null } });
		assert.deepEqual(errorsOf(response), ["user.age INTERNAL"]);
		assert.equal(JSON.stringify(response).includes("secret"), false);
	});

	test("of arguments are raised for every parent without a read", async () => {
		const { graph, execute, star } = crowd(2);
		const response = await execute(
			"query ($id: ID!, $n: Int) { user(id: $id) { followers { nodes { likes(first: $n) { totalCount } } } } }",
			{ id: star, n: 101 },
		);
		assert.deepEqual(errorsOf(response), [
			"user.followers.nodes.0.likes BAD_USER_INPUT",
			"user.followers.nodes.1.likes BAD_USER_INPUT",
		]);
		assert.deepEqual(graph.ticks.length, 2);
	});
});

describe("the deadline", () => {
	test("makes pending steps UNAVAILABLE and keeps other results", async () => {
		const { execute, late, world } = planning();
		const controller = new AbortController();
		const answering = execute(
			'{ echo broken(how: "late") table }',
			{},
			{ signal: controller.signal },
		);
		while (world.calls.length < 3) await new Promise(setImmediate);
		await new Promise(setImmediate);
		controller.abort();
		const response = await answering;
		late.resolve();
		assert.equal(typeof response.data?.echo, "string");
		assert.equal(response.data?.broken, null);
		assert.deepEqual(errorsOf(response), [
			"broken UNAVAILABLE",
			"table.2.1 INTERNAL",
		]);
	});

	test("makes every position of a late level UNAVAILABLE", async () => {
		const { graph, execute, star } = crowd(2);
		const controller = new AbortController();
		const held = Promise.withResolvers<void>();
		const answering = execute(
			"query ($id: ID!) { user(id: $id) { followers { nodes { name likes { totalCount } } } } }",
			{ id: star },
			{ signal: controller.signal },
		);
		while (graph.ticks.length < 2) await new Promise(setImmediate);
		graph.held = held.promise;
		controller.abort();
		const response = await answering;
		held.resolve();
		assert.deepEqual(response.data, { user: { followers: null } });
		assert.deepEqual(errorsOf(response), ["user.followers UNAVAILABLE"]);
	});

	test("in the past prevents any step", async () => {
		const { graph, world, execute } = planning();
		const response = await execute(
			"{ __typename echo }",
			{},
			{ signal: AbortSignal.abort() },
		);
		assert.deepEqual(response.data, { __typename: "Query", echo: null });
		assert.deepEqual(errorsOf(response), ["echo UNAVAILABLE"]);
		assert.deepEqual(world.calls, []);
		assert.deepEqual(graph.ticks, []);
	});

	test("leaves no listener on the signal after the response", async () => {
		const { execute } = planning();
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
		await execute("{ echo }", {}, { signal });
		assert.equal(listeners, 0);
	});
});

describe("mutations", () => {
	test("execute one after another, each with all its selections", async () => {
		const { graph, world, execute } = planning();
		world.user = graph.add("User", { name: "ada" });
		const response = await execute(
			"mutation { a: add(amount: 1) { sum user { name } } b: add(amount: 2) { sum user { followers { totalCount } } } }",
		);
		assert.deepEqual(response, {
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

	test("continue after one that failed", async () => {
		const { execute } = planning();
		const response = await execute(
			"mutation { a: add(amount: 0) { sum } b: add(amount: 2) { sum } }",
		);
		assert.deepEqual(response.data, { a: null, b: { sum: 2 } });
		assert.deepEqual(errorsOf(response), ["a CONFLICT"]);
	});

	test("that have not started at the deadline do not start", async () => {
		const { graph, world, execute } = planning();
		world.user = graph.add("User", { name: "ada" });
		const controller = new AbortController();
		graph.held = new Promise<void>(() => {});
		const answering = execute(
			"mutation { a: add(amount: 1) { sum user { name } } b: add(amount: 2) { sum } }",
			{},
			{ signal: controller.signal },
		);
		while (graph.ticks.length < 1) await new Promise(setImmediate);
		controller.abort();
		const response = await answering;
		assert.deepEqual(response.data, { a: { sum: 1, user: null }, b: null });
		assert.deepEqual(errorsOf(response), [
			"a.user UNAVAILABLE",
			"b UNAVAILABLE",
		]);
		assert.equal(world.sum, 1);
	});
});
