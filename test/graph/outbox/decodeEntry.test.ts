import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	decodeEntry,
	isUnreadable,
} from "../../../src/graph/outbox/decodeEntry.ts";
import { packId } from "../../../src/id/ids.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json.ts";
import { theModel } from "../../helpers/model.ts";

const { model } = theModel();
const PIN = packId({ shard: 1, type: 1, local: 5 });
const EDGE = {
	mapping: "repin",
	from: PIN,
	to: PIN,
	state: 0,
	version: 1,
	sequence: 7,
};
const RESERVATION = { name: "username", key: "ada", id: PIN, token: "t" };
const LINK = {
	mapping: "filePin",
	from: PIN,
	sequence: 3,
	type: "Interest",
	data: { slug: "bread" },
	shard: 0,
};
const JOB = {
	queue: "archive",
	shard: 3,
	local: "01930f0e6c3a7000800000000000beef",
	bucket: 498_000,
	priority: 3,
	due: 1_800_000_000_000_000,
	allowed: 30,
	createdAt: 1_800_000_000_000_000,
	key: null,
	body: "{}",
};
const INVALIDATIONS = {
	objects: [PIN],
	lists: [{ mapping: "likePin.inverse", from: PIN }],
};

describe("an outbox entry", () => {
	it("is decoded with all of its parts", () => {
		const entry = {
			edges: [EDGE, { ...EDGE, sequence: null, before: PIN }],
			pendingObjects: [PIN],
			reservations: [RESERVATION],
			lookups: [{ name: "import", key: "p:1", id: PIN }],
			links: [LINK],
			jobs: [JOB, { ...JOB, key: "k" }],
			invalidations: INVALIDATIONS,
		} as unknown as JsonObject;
		assert.equal(decodeEntry(model, { entry }), entry);
		assert.deepEqual(decodeEntry(model, { entry: {} }), {});
	});

	const bad: readonly (readonly [string, JsonValue, RegExp])[] = [
		["that is not a JSON object", null, /is not a JSON object\.$/],
		["with a part of a later version", { later: [] }, /the part later, which/],
		[
			"with a job for no queue",
			{ jobs: [{ ...JOB, queue: "jobs; DROP" }] },
			/job for the queue \?\.$/,
		],
		[
			"with a job whose id is no id",
			{ jobs: [{ ...JOB, local: "' OR 1" }] },
			/job without a valid id/,
		],
		[
			"with a job without a bucket",
			{ jobs: [{ ...JOB, bucket: null }] },
			/job with a number that no job has/,
		],
		[
			"with a job without a body",
			{ jobs: [{ ...JOB, body: 5 }] },
			/job without a body/,
		],
		[
			"with a part named __proto__",
			{ ["__proto__"]: [] },
			/the part __proto__/,
		],
		[
			"with a part that is no list",
			{ edges: {} },
			/edges, which is not a list/,
		],
		["with edges that are no objects", { edges: [5] }, /object in edges/],
		[
			"of an unknown mapping",
			{ edges: [{ ...EDGE, mapping: "none" }] },
			/names the mapping none, which/,
		],
		[
			"with a reference that is no id",
			{ edges: [{ ...EDGE, to: "x" }] },
			/no valid id in edges/,
		],
		[
			"with an id beyond the reserved bits",
			{ pendingObjects: ["18446744073709551615"] },
			/no valid id in pendingObjects/,
		],
		[
			"with a version of a wrong type",
			{ edges: [{ ...EDGE, version: "1" }] },
			/state, version or sequence/,
		],
		[
			"of an unknown lookup",
			{ reservations: [{ ...RESERVATION, name: "none" }] },
			/names the lookup none, which/,
		],
		[
			"with a reservation without a token",
			{ reservations: [{ ...RESERVATION, token: null }] },
			/without a token/,
		],
		[
			"with a key that is no text",
			{ lookups: [{ name: "import", key: 5, id: PIN }] },
			/no key in lookups/,
		],
		[
			"that links to an unknown type",
			{ links: [{ ...LINK, type: "None" }] },
			/links to the type None, which/,
		],
		[
			"that links without a natural key",
			{ links: [{ ...LINK, data: {} }] },
			/Interest without a natural key/,
		],
		[
			"with invalidations of another shape",
			{ invalidations: { objects: PIN } },
			/invalidations without lists/,
		],
		[
			"that invalidates a list of an unknown mapping",
			{
				invalidations: { objects: [], lists: [{ mapping: "none", from: PIN }] },
			},
			/names the mapping none/,
		],
	];
	for (const [what, entry, reason] of bad) {
		it(`${what} is unreadable, with the reason`, () => {
			assert.throws(
				() => decodeEntry(model, { entry: entry as JsonObject | null }),
				(error) => {
					assert.ok(isUnreadable(error));
					assert.match((error as Error).message, reason);
					return true;
				},
			);
		});
	}

	it("whose names are long or odd is unreadable with a short, plain message", () => {
		for (const mapping of ["x".repeat(10_000), "a\nb", 5, "<script>"]) {
			assert.throws(
				() => decodeEntry(model, { entry: { edges: [{ ...EDGE, mapping }] } }),
				({ message }) => message.length < 200 && /^[\w :,.?]+$/.test(message),
			);
		}
	});
});
