import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { NOW, Resolving } from "../helpers/resolving.ts";

const TAKEN = "This username or e-mail address is taken.";

describe("createUser", () => {
	it("createUser needs no viewer and returns the user with a token", async () => {
		const at = new Resolving().as(null);
		const { user, token } = await at.change("createUser", {
			username: "Eve_Made_Up",
			name: " Eve Made-Up ",
			email: " Eve@example.com ",
			bio: "Bakes.",
			website: "https://example.com/eve",
			avatar: { url: "https://example.com/eve.jpg" },
		});
		assert.equal(token, `token of ${user}`);
		assert.deepEqual(at.graph.data(user as Id), {
			username: "Eve_Made_Up",
			name: "Eve Made-Up",
			email: "Eve@example.com",
			bio: "Bakes.",
			website: "https://example.com/eve",
			avatar: { url: "https://example.com/eve.jpg" },
			created_at: NOW,
		});
	});

	it("createUser uses the username as the name and stores nothing for absent, null or blank fields", async () => {
		const at = new Resolving().as(null);
		for (const [username, rest] of [
			["eve_one", {}],
			["eve_two", { name: null, email: null, bio: null, website: null }],
			["eve_three", { name: " ", email: "", bio: "\n", website: "" }],
		] as const) {
			const { user } = await at.change("createUser", { username, ...rest });
			assert.deepEqual(at.graph.data(user as Id), {
				username,
				name: username,
				created_at: NOW,
			});
		}
	});

	it("createUser reports all problems of its input at once", async () => {
		const at = new Resolving().as(null);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "createUser", {
				username: "e",
				name: "n".repeat(101),
				email: "eve",
				bio: "b".repeat(501),
				website: "example.com",
				avatar: { url: "\0", width: 0 },
				idempotencyKey: "",
			}),
			[
				'createUser: username must be 3 to 30 of A-Z a-z 0-9 _, got "e"',
				"name must have at most 100 characters, got 101",
				"email must be an e-mail address: one @, no spaces",
				"bio must have at most 500 characters, got 501",
				'website must be an http or https address, got "example.com"',
				"avatar.url must not contain a NUL character",
				"avatar.width must be a positive number of pixels, got 0",
				'idempotencyKey must be 1 to 100 characters of printable ASCII, got "".',
			].join("; "),
		);
		assert.deepEqual(at.graph.calls, []);
	});

	it("returns CONFLICT with the same message for a taken username and a taken e-mail address", async () => {
		const at = new Resolving().as(null);
		assert.equal(
			await at.refused("CONFLICT", "createUser", { username: "ADA_made_up" }),
			TAKEN,
		);
		assert.equal(
			await at.refused("CONFLICT", "createUser", {
				username: "somebody_new",
				email: "ADA@example.com",
			}),
			TAKEN,
		);
	});

	describe("with an idempotency key", () => {
		const input = { username: "eve_made_up", idempotencyKey: "k1" };

		it("returns the first request's user and a token to a repeated request", async () => {
			const at = new Resolving().as(null);
			const first = await at.change("createUser", input);
			assert.deepEqual(
				await at.change("createUser", { ...input, bio: " " }),
				first,
			);
		});

		it("returns no token to a request repeated after ten minutes", async () => {
			const at = new Resolving().as(null);
			const { user, token } = await at.change("createUser", input);
			at.now = "2026-11-21T12:10:00.000Z";
			assert.deepEqual(await at.change("createUser", input), { user, token });
			at.now = "2026-11-21T12:10:00.001Z";
			assert.deepEqual(await at.change("createUser", input), {
				user,
				token: null,
			});
		});

		it("refuses a different request with the same idempotency key", async () => {
			const at = new Resolving().as(null);
			await at.change("createUser", input);
			await at.refused("BAD_USER_INPUT", "createUser", {
				...input,
				username: "eve_other",
			});
		});
	});
});

describe("updateUser", () => {
	it("updateUser changes given fields and keeps absent fields", async () => {
		const at = new Resolving();
		assert.deepEqual(
			await at.change("updateUser", { bio: " Bakes. ", username: "Ada_M" }),
			{ user: at.ada },
		);
		assert.deepEqual(at.graph.data(at.ada), {
			username: "Ada_M",
			name: "Ada Made-Up",
			bio: "Bakes.",
			email: "ada@example.com",
			created_at: "2026-01-01T00:00:00.000Z",
		});
	});

	it("updateUser clears nullable fields with null or blank text", async () => {
		const at = new Resolving();
		await at.change("updateUser", {
			bio: "Bakes.",
			website: "https://example.com",
			avatar: { url: "https://example.com/a.jpg" },
		});
		await at.change("updateUser", {
			bio: null,
			website: " ",
			avatar: null,
			email: null,
		});
		assert.deepEqual(at.graph.data(at.ada), {
			username: "ada_made_up",
			name: "Ada Made-Up",
			created_at: "2026-01-01T00:00:00.000Z",
		});
	});

	it("updateUser refuses to clear username and name", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "updateUser", {
				username: null,
				name: null,
			}),
			"updateUser: username must not be null or empty; name must not be null or empty.",
		);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "updateUser", { name: " " }),
			"updateUser: name must not be null or empty.",
		);
	});

	it("returns CONFLICT with the same message for a taken username and a taken e-mail address", async () => {
		const at = new Resolving().as(null);
		at.as(at.ben);
		for (const input of [
			{ username: "Ada_Made_Up" },
			{ email: "ada@example.com" },
		]) {
			assert.equal(await at.refused("CONFLICT", "updateUser", input), TAKEN);
		}
	});

	it("updateUser accepts the viewer's own username in another case, and repeating it is no error", async () => {
		const at = new Resolving();
		for (const _ of [1, 2]) {
			await at.change("updateUser", { username: "ADA_MADE_UP" });
			assert.equal(at.graph.data(at.ada)?.username, "ADA_MADE_UP");
		}
	});
});
