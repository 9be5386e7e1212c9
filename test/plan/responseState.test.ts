import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Id } from "../../src/id/ids.ts";
import { MAX_CHARACTERS } from "../../src/plan/responseState.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

const MEGA = 1024 * 1024;
const aliases = (count: number, field: string) =>
	Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(" ");

/** Users of whom one has a name of a mega of characters. */
function longNamed() {
	const plan = planning();
	const long = plan.graph.add("User", { name: "n".repeat(MEGA) });
	const short = plan.graph.add("User", { name: "n" });
	return { ...plan, long, short };
}

describe("an answer", () => {
	test("may have 16 Mi characters, the same text told twice counted twice", async () => {
		const { answer, long } = longNamed();
		const query = (count: number) =>
			`query ($id: ID!) { user(id: $id) { ${aliases(count, "name")} } }`;
		const passing = await answer(query(15), { id: long });
		assert.equal(passing.errors, undefined);
		const refused = await answer(query(16), { id: long });
		assert.deepEqual(refused, {
			errors: [
				{
					message: `The response is longer than ${MAX_CHARACTERS} characters. Request fewer fields or smaller pages.`,
					extensions: { code: "TOO_EXPENSIVE" },
				},
			],
		});
	});

	test("has its keys counted, of objects in lists for each", async () => {
		const { answer, short } = longNamed();
		const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ${"k".repeat(MEGA)}: id } }`;
		const of = (count: number) =>
			answer(query, { ids: Array(count).fill(short) });
		assert.equal((await of(15)).errors, undefined);
		assert.deepEqual(errorsOf(await of(16)), [" TOO_EXPENSIVE"]);
	});

	test("has the paths of its errors counted", async () => {
		const { answer, graph, short } = longNamed();
		graph.down.add(short);
		const query = `query ($ids: [ID!]!) { ${"k".repeat(MEGA)}: nodes(ids: $ids) { id } }`;
		const of = (count: number) =>
			answer(query, { ids: Array(count).fill(short) });
		assert.equal((await of(14)).errors?.length, 14);
		assert.deepEqual(errorsOf(await of(16)), [" TOO_EXPENSIVE"]);
	});

	test("has the nulls of its lists counted", async () => {
		const { answer, world } = longNamed();
		const unknown = "7" as Id;
		for (let at = 0; at < 4 * MEGA; at++) world.users.push(unknown);
		const query = "mutation { add(amount: 1) { users { id } } }";
		assert.deepEqual(errorsOf(await answer(query)), [" TOO_EXPENSIVE"]);
	});

	test("that becomes too long begins no further read, and is not waited for", async () => {
		const { answer, graph, long, short } = longNamed();
		const { errors } = await answer(
			`query ($long: ID!, $short: ID!) {
				long: user(id: $long) { ${aliases(16, "name")} }
				short: user(id: $short) { followers { nodes { followers { nodes { id } } } } }
			}`,
			{ long, short },
		);
		assert.equal(errors?.length, 1);
		await setTimeout(20);
		assert.deepEqual(graph.ticks, [["objects 1", "objects 1"]]);
	});

	test("of a mutation says that what it changed is changed", async () => {
		const { answer, world, long } = longNamed();
		world.user = long;
		const refused = await answer(
			`mutation { a: add(amount: 1) { user { ${aliases(16, "name")} } } b: add(amount: 1) { sum } }`,
		);
		assert.equal(refused.data, undefined);
		assert.match(
			refused.errors?.[0]?.message ?? "",
			/Changes made before this are kept\.$/,
		);
		assert.equal(world.sum, 1);
	});

	test("that is refused is explained all the same", async () => {
		const { planner, world, long } = longNamed();
		const { errors, extensions } = await planner.execute({
			document: valid(
				`query ($id: ID!) { user(id: $id) { ${aliases(16, "name")} } }`,
			),
			variables: { id: long },
			context: world,
			explain: {},
		});
		assert.equal(errors?.length, 1);
		assert.ok(extensions?.explain);
	});
});
