import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Id, unpackId } from "../../../src/id/ids.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { good } from "../../helpers/storing.ts";

/** Gives a user names that another one has, behind the back of every lookup. */
async function copyNames(
	{ storage }: Embedded,
	id: Id,
	names: JsonObject,
): Promise<void> {
	await storage.transact({
		shard: unpackId(id).shard,
		objects: [id],
		decide: ({ objects: [data] }) => ({
			result: null,
			objects: [{ id, data: { ...(data as JsonObject), ...names } }],
		}),
	});
}

async function namesOf({ storage }: Embedded, id: Id): Promise<JsonObject> {
	const [text] = await storage.read("objects", [id]);
	const { username, email } = JSON.parse(good(text) as string);
	return { username, email };
}

describe("a natural key that two objects have", () => {
	it("is reported with both, and left by a repair to the one that the lookup leads to", async () => {
		await using graph = await openEmbedded();
		const create = (data: JsonObject) =>
			graph.writes.create({ type: "User", data });
		const long = "x".repeat(30);
		const ann = await create({ username: "Ann", email: "a@example.com" });
		const two = await create({ username: "ann_2" });
		const lex = await create({ username: long });
		const ben = await create({ username: "ben", email: "b@example.com" });
		const ken = await create({ username: "ken" });
		await copyNames(graph, ben, { username: "ann", email: "A@example.com" });
		await copyNames(graph, ken, { username: long });

		const twice = (report: Awaited<ReturnType<typeof verify>>) =>
			report.damage.find(({ kind }) => kind === "natural key twice");
		const found = twice(await verify(graph.cold()));
		assert.deepEqual(
			[
				found?.count,
				found?.examples.map(({ description }) => description).toSorted(),
			],
			[
				3,
				[
					`User ${ben} and User ${ann} have the same email; it leads to ${ann}`,
					`User ${ben} and User ${ann} have the same username; it leads to ${ann}`,
					`User ${ken} and User ${lex} have the same username; it leads to ${lex}`,
				].toSorted(),
			],
		);

		const repaired = await verify(graph.cold(), { repair: true });
		assert.deepEqual(repaired.failedRepairs, []);
		assert.equal(repaired.clean, true, JSON.stringify(repaired.remaining));
		assert.deepEqual(await namesOf(graph, ann), {
			username: "Ann",
			email: "a@example.com",
		});
		assert.deepEqual(await namesOf(graph, ben), {
			username: "ann_3",
			email: undefined,
		});
		assert.equal((await namesOf(graph, ken)).username, `${"x".repeat(28)}_2`);
		const username = graph.store.model.lookups.get("username");
		assert.ok(username);
		assert.deepEqual(
			await graph
				.view()
				.lookUp(username, ["ann", "ann_2", "ann_3", "ben", long]),
			[ann, two, ben, null, lex],
		);
	});
});
