import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { NOW, Resolving } from "../helpers/resolving.ts";

describe("addComment", () => {
	it("creates a comment on a pin that the viewer may see", async () => {
		const at = new Resolving();
		const pinId = at.pin(at.ben, at.board(at.ben));
		const { comment } = await at.change("addComment", {
			pinId,
			text: " What a loaf! ",
		});
		assert.deepEqual(at.graph.data(comment as Id), {
			text: "What a loaf!",
			created_at: NOW,
			user_id: at.ada,
			pin_id: pinId,
		});
	});

	it("requires a text of 1 to 2,000 characters", async () => {
		const at = new Resolving();
		const pinId = at.pin(at.ben, at.board(at.ben));
		await at.change("addComment", { pinId, text: "a".repeat(2_000) });
		assert.equal(
			await at.refused("BAD_USER_INPUT", "addComment", {
				pinId,
				text: "a".repeat(2_001),
			}),
			"addComment: text must have at most 2000 characters, got 2001.",
		);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "addComment", { pinId, text: " \n" }),
			"addComment: text must not be null or empty.",
		);
	});

	it("creates two comments for two requests, and one for a repeated idempotency key", async () => {
		const at = new Resolving();
		const input = { pinId: at.pin(at.ben, at.board(at.ben)), text: "Nice" };
		assert.notDeepEqual(
			await at.change("addComment", input),
			await at.change("addComment", input),
		);
		const keyed = { ...input, idempotencyKey: "k1" };
		assert.deepEqual(
			await at.change("addComment", keyed),
			await at.change("addComment", keyed),
		);
	});
});

describe("updateComment", () => {
	it("changes the text of the viewer's comment and says when", async () => {
		const at = new Resolving();
		const pinId = at.pin(at.ben, at.board(at.ben));
		const { comment } = await at.change("addComment", { pinId, text: "Nice" });
		const edit = { commentId: comment, text: " Nicer " };
		await at.as(at.ben).refused("FORBIDDEN", "updateComment", edit);
		at.now = "2026-11-22T12:00:00.000Z";
		assert.deepEqual(await at.as(at.ada).change("updateComment", edit), {
			comment,
			viewer: at.ada,
		});
		const edited = {
			text: "Nicer",
			created_at: NOW,
			edited_at: "2026-11-22T12:00:00.000Z",
			user_id: at.ada,
			pin_id: pinId,
		};
		assert.deepEqual(at.graph.data(comment as Id), edited);
		at.now = "2026-11-23T12:00:00.000Z";
		await at.change("updateComment", edit);
		assert.deepEqual(at.graph.data(comment as Id), edited);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "updateComment", {
				commentId: comment,
				text: " ",
			}),
			"updateComment: text must not be null or empty.",
		);
	});
});

describe("deleteComment", () => {
	it("deletes a comment for the owners of its pin and of the pin's board, and nobody else but its author", async () => {
		const at = new Resolving();
		const cyd = at.graph.add("User", { username: "cyd_made_up" });
		const pinId = at.pin(cyd, at.board(at.ben));
		const dan = at.graph.add("User", { username: "dan_made_up" });
		for (const viewer of [cyd, at.ben]) {
			const { comment } = await at
				.as(at.ada)
				.change("addComment", { pinId, text: "Nice" });
			const input = { commentId: comment };
			await at.as(dan).refused("FORBIDDEN", "deleteComment", input);
			await at.as(viewer).change("deleteComment", input);
			assert.equal(at.graph.data(comment as Id), undefined);
		}
	});

	it("deletes the viewer's comment on anyone's pin", async () => {
		const at = new Resolving();
		const pinId = at.pin(at.ben, at.board(at.ben));
		const { comment } = await at.change("addComment", { pinId, text: "Nice" });
		assert.deepEqual(
			await at.as(at.ada).change("deleteComment", { commentId: comment }),
			{ deletedCommentId: comment, pin: pinId, viewer: at.ada },
		);
		assert.equal(at.graph.data(comment as Id), undefined);
	});
});
