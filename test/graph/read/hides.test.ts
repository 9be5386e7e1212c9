import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pinsApp from "../../../pins/app.ts";
import { createDomain } from "../../../src/app/readApp.ts";
import { View } from "../../../src/graph/read/view.ts";
import {
	createVisibility,
	type VisibilityPolicy,
} from "../../../src/graph/read/visibilityPolicy.ts";
import type { Store } from "../../../src/graph/store/store.ts";
import type { Id } from "../../../src/id/ids.ts";
import { readModel } from "../../../src/model/read.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { resolvers } from "../../helpers/resolvers.ts";

/** More than a head holds. */
const MANY = 40;

const MUTES = `
extend type User {
  "The users that this user does not want to see anything of."
  mutedUsers(first: Int, after: String, last: Int, before: String): BlockedUserConnection
    @mapping(name: "muteUser", table: "user_mutes_users")
}`;

const visibilityPolicy = pinsApp.policies.visibility as VisibilityPolicy;

/** The program's model and policy, with mutes beside the blocks: one field of the SDL, one line of the policy. */
function withMutes() {
	const files = readdirSync(pinsApp.schema)
		.filter((name) => name.endsWith(".graphql"))
		.map((name) => ({
			path: name,
			text: readFileSync(join(pinsApp.schema, name), "utf8"),
		}));
	const { model } = readModel(
		[...files, { path: "mutes.graphql", text: MUTES }],
		{ resolverFields: new Set(resolvers.keys()) },
	);
	const visibility = createVisibility(model, {
		...visibilityPolicy,
		hides: { ...visibilityPolicy.hides, muteUser: "belongings" },
	});
	return { model, domain: { ...createDomain(model, pinsApp), visibility } };
}

describe("a second relation that hides, declared beside the blocks", () => {
	let graph: Embedded;
	let viewer: Id;
	/** Muted by the viewer, more than a head of the list holds; the first is the one that was muted first. */
	let muted: readonly Id[];
	let stranger: Id;
	let blocker: Id;
	/** By owner. */
	const pins = new Map<Id, Id>();

	before(async () => {
		graph = await openEmbedded({ model: withMutes() });
		const { writes } = graph;
		const user = async (username: string) => {
			const id = await writes.create({ type: "User", data: { username } });
			const board = await writes.create({
				type: "Board",
				data: { name: "b", user_id: id },
			});
			pins.set(
				id,
				await writes.create({
					type: "Pin",
					data: { board_id: board, user_id: id },
				}),
			);
			return id;
		};
		viewer = await user("the_viewer");
		stranger = await user("stranger");
		blocker = await user("blocker");
		muted = await Promise.all(
			Array.from({ length: MANY }, (_, n) => user(`muted_${n}`)),
		);
		const mute = graph.mapping("muteUser");
		for (const one of muted) {
			await writes.setEdge(mute, viewer, one, true);
		}
		await writes.setEdge(graph.mapping("blockUser"), blocker, viewer, true);
	});
	after(() => graph[Symbol.asyncDispose]());

	const pinOf = (user: Id) => pins.get(user) as Id;

	/** Whether a user is seen, and whether its pin is. */
	async function seenOf(user: Id, by: Id | null, store: Store) {
		const nodes = await new View(store, by).readObjects([user, pinOf(user)]);
		return nodes.map((node) => node !== null && "data" in node);
	}

	it("hides what belongs to each user on the list from the viewer, but not the user, from shards and from memory", async () => {
		const store = graph.cold();
		for (const _ of ["from the shards", "from memory"]) {
			for (const one of [muted[0], muted.at(-1)] as [Id, Id]) {
				assert.deepEqual(await seenOf(one, viewer, store), [true, false]);
			}
		}
	});

	it("hides nothing from others, nor the viewer from those it mutes", async () => {
		const store = graph.cold();
		const [one] = muted as [Id];
		for (const other of [stranger, null]) {
			assert.deepEqual(await seenOf(one, other, store), [true, true]);
		}
		assert.deepEqual(await seenOf(viewer, one, store), [true, true]);
		assert.deepEqual(await seenOf(stranger, viewer, store), [true, true]);
	});

	it("leaves the blocks as they are", async () => {
		const store = graph.cold();
		assert.deepEqual(await seenOf(blocker, viewer, store), [false, false]);
		assert.deepEqual(await seenOf(viewer, blocker, store), [true, false]);
	});

	it("waits for other processes when an edge is added, as an added block does", () => {
		const { visibility } = graph.store.domain;
		const hides = (name: string, change: "added" | "removed") =>
			visibility.edgesHide(graph.mapping(name), change);
		assert.ok(hides("muteUser", "added"));
		assert.ok(hides("blockUser", "added"));
		assert.ok(!hides("muteUser", "removed"));
		assert.ok(!hides("followUser", "added"));
	});
});
