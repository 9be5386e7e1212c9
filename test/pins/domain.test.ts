import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pinsApp from "../../pins/app.ts";
import { createDomain } from "../../src/app/readApp.ts";
import {
	createVisibility,
	type VisibilityPolicy,
} from "../../src/graph/read/visibilityPolicy.ts";
import { createPlacement } from "../../src/graph/write/placement.ts";
import { packId } from "../../src/id/ids.ts";
import { keysRead } from "../../src/testing/keysRead.ts";
import { theModel } from "../helpers/model.ts";

const { model } = theModel();

describe("the domain", () => {
	it("stores an object on the shard of the object that it is colocated with", () => {
		const { placement } = createDomain(model, pinsApp);
		const shards = { openShards: [1], modShards: 4 };
		const owner = packId({ shard: 3, type: 3, local: 7 });
		assert.equal(placement.shardFor("Board", { user_id: owner }, shards), 3);
		assert.equal(placement.shardFor("User", {}, shards), 1);
	});

	it("draws open shards in proportion to their weights", () => {
		const { placement } = createDomain(model, pinsApp);
		const shards = {
			openShards: [1, 2, 3],
			modShards: 4,
			weightOf: (shard: number) => (shard === 3 ? 4 : 1),
		};
		const drawn = [0, 0, 0, 0];
		const users = 100_000;
		for (let n = 0; n < users; n++) {
			const shard = placement.shardFor("User", {}, shards);
			drawn[shard] = (drawn[shard] ?? 0) + 1;
		}
		// Eight standard deviations are 1.3 % of all.
		assert.ok(Math.abs((drawn[3] ?? 0) / users - 4 / 6) < 0.02, `${drawn}`);
		assert.ok(Math.abs((drawn[1] ?? 0) / users - 1 / 6) < 0.02, `${drawn}`);
	});

	it("stores an interest on the mod shard of its slug", () => {
		const { placement } = createDomain(model, pinsApp);
		const shardOf = (slug: string) =>
			placement.shardFor(
				"Interest",
				{ slug },
				{ openShards: [9], modShards: 4 },
			);
		assert.equal(shardOf("bread"), shardOf("bread"));
		assert.ok(shardOf("bread") < 4);
	});
});

describe("the visibility policy", () => {
	it("names every stored field that decides whether an object is visible", () => {
		for (const [type, { isVisible, decidedBy = [] }] of Object.entries(
			(pinsApp.policies.visibility as VisibilityPolicy).types,
		)) {
			const read = isVisible === undefined ? [] : keysRead(type, isVisible);
			const keys = decidedBy.map(
				(field) =>
					model.objects.get(type)?.stored.find((one) => one.field === field)
						?.key,
			);
			const owner = createDomain(model, pinsApp).visibility.keysOf(type).owner;
			assert.deepEqual(
				[...read].filter((key) => key !== owner).toSorted(),
				keys.toSorted(),
				type,
			);
		}
	});
});

describe("a policy that names what the schema does not have", () => {
	const noLists = { privateLists: [] };
	for (const [what, create] of [
		[
			"the type Nope",
			() => createVisibility(model, { types: { Nope: {} }, ...noLists }),
		],
		[
			"Pin.nope",
			() =>
				createVisibility(model, {
					types: { Pin: { parent: "nope" } },
					...noLists,
				}),
		],
		[
			"User.nope",
			() =>
				createVisibility(model, {
					types: { User: { decidedBy: ["nope"] } },
					...noLists,
				}),
		],
		[
			"the mapping nope",
			() => createVisibility(model, { types: {}, privateLists: ["nope"] }),
		],
		[
			"the mapping ownPin",
			() =>
				createVisibility(model, {
					types: {},
					...noLists,
					hides: { ownPin: "belongings" },
				}),
		],
		[
			"Pin.details",
			() => createPlacement(model, { Pin: { colocateWith: "details" } }),
		],
		[
			"Interest.name",
			() => createPlacement(model, { Interest: { modShardOf: "name" } }),
		],
	] as const) {
		it(`stops the start: ${what}`, () => {
			assert.throws(create, (error: Error & { code?: string }) => {
				assert.equal(error.code, "BAD_MODEL");
				assert.ok(
					error.message.includes(`policy names ${what},`),
					error.message,
				);
				return true;
			});
		});
	}
});
