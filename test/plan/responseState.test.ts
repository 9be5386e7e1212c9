import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Id } from "../../src/id/ids.ts";
import { MAX_CHARACTERS } from "../../src/plan/responseState.ts";
import { errorsOf, planning, valid } from "../helpers/planning.ts";

const MEGA = 1024 * 1024;
const aliases = (count: number, field: string) =>
	Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(" ");

/** Two users. The name of one has 2^20 characters. */
function withLongName() {
	const plan = planning();
	const long = plan.graph.add("User", { name: "n".repeat(MEGA) });
	const short = plan.graph.add("User", { name: "n" });
	return { ...plan, long, short };
}

describe("the size of a response", () => {
	test("may be 16 Mi characters, and counts a repeated text each time", async () => {
		const { execute, long } = withLongName();
		const query = (count: number) =>
			`query ($id: ID!) { user(id: $id) { ${aliases(count, "name")} } }`;
		const passing = await execute(query(15), { id: long });
		assert.equal(passing.errors, undefined);
		const rejected = await execute(query(16), { id: long });
		assert.deepEqual(rejected, {
			errors: [
				{
					message: `The response is longer than ${MAX_CHARACTERS} characters. Request fewer fields or smaller pages.`,
					extensions: { code: "TOO_EXPENSIVE" },
				},
			],
		});
	});

	test("includes the keys of each object", async () => {
		const { execute, short } = withLongName();
		const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ${"k".repeat(MEGA)}: id } }`;
		const of = (count: number) =>
			execute(query, { ids: Array(count).fill(short) });
		assert.equal((await of(15)).errors, undefined);
		assert.deepEqual(errorsOf(await of(16)), [" TOO_EXPENSIVE"]);
	});

	test("includes the paths of errors", async () => {
		const { execute, graph, short } = withLongName();
		graph.down.add(short);
		const query = `query ($ids: [ID!]!) { ${"k".repeat(MEGA)}: nodes(ids: $ids) { id } }`;
		const of = (count: number) =>
			execute(query, { ids: Array(count).fill(short) });
		assert.equal((await of(14)).errors?.length, 14);
		assert.deepEqual(errorsOf(await of(16)), [" TOO_EXPENSIVE"]);
	});

	test("includes nulls in lists", async () => {
		const { execute, world } = withLongName();
		const unknown = "7" as Id;
		for (let n = 0; n < 4 * MEGA; n++) world.users.push(unknown);
		const query = "mutation { add(amount: 1) { users { id } } }";
		assert.deepEqual(errorsOf(await execute(query)), [" TOO_EXPENSIVE"]);
	});

	test("above the limit stops further reads at once", async () => {
		const { execute, graph, long, short } = withLongName();
		const { errors } = await execute(
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

	test("above the limit reports that a mutation's changes are kept", async () => {
		const { execute, world, long } = withLongName();
		world.user = long;
		const rejected = await execute(
			`mutation { a: add(amount: 1) { user { ${aliases(16, "name")} } } b: add(amount: 1) { sum } }`,
		);
		assert.equal(rejected.data, undefined);
		assert.match(
			rejected.errors?.[0]?.message ?? "",
			/Changes made before this are kept\.$/,
		);
		assert.equal(world.sum, 1);
	});

	test("above the limit still allows explain output", async () => {
		const { planner, world, long } = withLongName();
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
