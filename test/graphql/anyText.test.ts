import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { CorkboardError } from "../../src/errors.ts";
import { Resolving } from "../helpers/resolving.ts";

/** Any string of UTF-16 code units, and strings near what the validators check. */
const anyText = fc.oneof(
	fc.string({ unit: "binary" }),
	fc
		.array(fc.integer({ min: 0, max: 0xffff }))
		.map((units) => String.fromCharCode(...units)),
	fc.webUrl(),
	fc.emailAddress(),
	fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String),
	fc.stringMatching(/^[a-z0-9_-]{0,40}$/),
	fc
		.tuple(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 3_000 }))
		.map(([part, times]) => part.repeat(times).slice(0, 3_000)),
);
const maybe = fc.option(anyText, { nil: undefined, freq: 3 });
const image = fc.option(
	fc.record({
		url: anyText,
		width: fc.option(fc.integer()),
		height: fc.option(fc.integer()),
		alt: fc.option(anyText),
	}),
);

describe("any text from a client", () => {
	const inputs = {
		createUser: fc.record({
			username: anyText,
			name: maybe,
			email: maybe,
			bio: maybe,
			website: maybe,
			avatar: image,
			idempotencyKey: maybe,
		}),
		updateUser: fc.record({
			username: maybe,
			name: maybe,
			email: maybe,
			bio: maybe,
			website: maybe,
			avatar: image,
		}),
		createBoard: fc.record({
			name: anyText,
			description: maybe,
			idempotencyKey: maybe,
		}),
		createPin: fc.record({
			details: maybe,
			link: maybe,
			image,
			interests: fc.option(fc.array(anyText)),
			idempotencyKey: maybe,
		}),
		addComment: fc.record({ text: anyText, idempotencyKey: maybe }),
	};

	for (const [mutation, input] of Object.entries(inputs)) {
		it(`${mutation} returns a payload, or BAD_USER_INPUT of at most 2,000 characters, for any text`, async () => {
			await fc.assert(
				fc.asyncProperty<[object]>(input, async (given) => {
					const at = new Resolving();
					const boardId = at.board(at.ada);
					const pinId = at.pin(at.ada, boardId);
					const answer = await at.answer(`Mutation.${mutation}`, {
						input: { boardId, pinId, ...given },
					});
					if (answer instanceof CorkboardError) {
						assert.equal(answer.code, "BAD_USER_INPUT", String(answer.cause));
						assert.ok(answer.message.length <= 2_000, answer.message);
						assert.ok(!/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(answer.message));
					} else {
						assert.ok(typeof answer === "object" && answer !== null);
					}
				}),
				{ numRuns: 300 },
			);
		});
	}

	it("a query by id or name returns an id, null or BAD_USER_INPUT for any text", async () => {
		await fc.assert(
			fc.asyncProperty(anyText, async (given) => {
				const at = new Resolving();
				for (const [field, args] of [
					["node", { id: given }],
					["nodes", { ids: [at.ada, given] }],
					["user", { by: { id: given } }],
					["user", { by: { username: given } }],
					["interest", { by: { slug: given } }],
				] as const) {
					const answer = await at.answer(`Query.${field}`, args);
					if (answer instanceof CorkboardError) {
						assert.equal(answer.code, "BAD_USER_INPUT");
					} else if (field === "nodes") {
						assert.ok(Array.isArray(answer));
					} else {
						assert.ok(answer === null || answer === given);
					}
				}
			}),
		);
	});
});
