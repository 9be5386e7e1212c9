import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requestContent } from "../../src/graphql/input/readInput.ts";
import {
	mappingOf,
	newStoredJson,
	updatedStoredJson,
} from "../../src/resolvers/storedJson.ts";
import { domain, model } from "../helpers/resolving.ts";

const context = { graph: { model }, fields: domain.fields };

describe("the stored JSON", () => {
	it("uses the model's keys and leaves out absent values", () => {
		assert.deepEqual(
			newStoredJson(context, "Pin", {
				details: "A loaf",
				link: null,
				image: undefined,
				createdAt: "2026-01-01T00:00:00.000Z",
				board: "1",
				owner: "2",
				origin: "3",
			}),
			{
				details: "A loaf",
				created_at: "2026-01-01T00:00:00.000Z",
				board_id: "1",
				user_id: "2",
				origin_id: "3",
			},
		);
	});

	it("keeps keys without a field when other fields change", () => {
		assert.deepEqual(
			updatedStoredJson(
				model,
				"User",
				{ name: "Ada", bio: "Bakes.", active: true },
				{ name: undefined, bio: null, avatar: { url: "https://example.com" } },
			),
			{ name: "Ada", avatar: { url: "https://example.com" }, active: true },
		);
	});

	it("is not written when nothing changes", () => {
		const data = { name: "K", image: { url: "https://example.com" } };
		assert.equal(
			updatedStoredJson(model, "Pin", data, {
				image: { url: "https://example.com" },
				link: null,
			}),
			null,
		);
	});

	it("throws for a name that the model does not have", () => {
		assert.throws(
			() => newStoredJson(context, "Pin", { shade: "red" }),
			/The model has no stored field Pin\.shade\./,
		);
		assert.throws(
			() => mappingOf(model, "hatePin"),
			/The model has no mapping hatePin\./,
		);
	});
});

describe("the content of a request with an idempotency key", () => {
	it("is the input without the key and without absent fields", () => {
		assert.deepEqual(
			requestContent({
				boardId: "1",
				details: null,
				link: undefined,
				interests: ["bread"],
				idempotencyKey: "k1",
			}),
			{ boardId: "1", interests: ["bread"] },
		);
	});
});
