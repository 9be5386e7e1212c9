import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openFeedWorld } from "../helpers/feedWorld.ts";

const world = await openFeedWorld();
after(() => world[Symbol.asyncDispose]());

interface FeedData {
	readonly viewer: {
		readonly homeFeed: {
			readonly totalCount: number;
			readonly nodes: readonly {
				readonly id: string;
				readonly homeFeedReason: {
					readonly source: string;
					readonly via: { readonly id: string } | null;
				} | null;
			}[];
		};
		readonly homeFeedWaiting: number | null;
	};
}

const FEED =
	"{ viewer { homeFeed(first: 50) { totalCount nodes { id homeFeedReason { source via { id } at } } } homeFeedWaiting } }";

describe("a home feed", () => {
	it("shows what waits, says why each pin is there, and hides one for good", async () => {
		const [ada, bob] = [await world.user(), await world.user()];
		await world.follow(bob.id, ada.id);
		const pins = [await world.pin(ada), await world.pin(ada)];
		await world.visited(bob.id);
		await world.offer(bob.id, pins, ada.id);
		const waiting = await world.ask(bob.id, "{ viewer { homeFeedWaiting } }");
		assert.deepEqual(waiting, { viewer: { homeFeedWaiting: 2 } });

		const { viewer } = await world.ask<FeedData>(bob.id, FEED);
		await world.feed.flush();
		assert.deepEqual(
			viewer.homeFeed.nodes.map(({ id }) => id),
			pins,
		);
		const again = await world.ask<FeedData>(bob.id, FEED);
		assert.deepEqual(again.viewer.homeFeed.nodes[0]?.homeFeedReason, {
			...again.viewer.homeFeed.nodes[0]?.homeFeedReason,
			source: "FOLLOWED_USER",
			via: { id: ada.id },
		});
		assert.equal(again.viewer.homeFeedWaiting, 0);

		const hidden = await world.ask(
			bob.id,
			`mutation { hideFromHomeFeed(input: {pinId: "${pins[0]}"}) { hiddenPinId viewer { homeFeed { nodes { id } } } } }`,
		);
		assert.deepEqual(hidden, {
			hideFromHomeFeed: {
				hiddenPinId: pins[0],
				viewer: { homeFeed: { nodes: [{ id: pins[1] }] } },
			},
		});
		const refreshed = await world.ask(
			bob.id,
			`mutation { refreshHomeFeed(input: {userId: "${bob.id}"}) { added viewer { homeFeed { nodes { id } } } } }`,
		);
		assert.deepEqual(refreshed, {
			refreshHomeFeed: {
				added: 0,
				viewer: { homeFeed: { nodes: [{ id: pins[1] }] } },
			},
		});
	});

	it("is its owner's alone: nobody else sees it, what waits, or why", async () => {
		const [ada, bob, eve] = [
			await world.user(),
			await world.user(),
			await world.user(),
		];
		await world.follow(bob.id, ada.id);
		const pin = await world.pin(ada);
		await world.ask(bob.id, FEED);
		await world.feed.flush();
		const others = `{ node(id: "${bob.id}") { ... on User { homeFeed { totalCount nodes { id } } homeFeedWaiting } } pin(id: "${pin}") { homeFeedReason { source } } }`;
		for (const viewer of [eve.id, ada.id, null]) {
			assert.deepEqual(await world.ask(viewer, others), {
				node: { homeFeed: null, homeFeedWaiting: null },
				pin: { homeFeedReason: null },
			});
		}
		const { errors } = await world.corkboard.query(
			`mutation { refreshHomeFeed(input: {userId: "${bob.id}"}) { added } }`,
			{ viewer: eve.id },
		);
		assert.match(JSON.stringify(errors), /FORBIDDEN/);
	});
});

describe("the promises of a home feed (docs/feed.md)", () => {
	it("F1: a picture is shown once, though two devices look at the same time", async () => {
		const [ada, bob] = [await world.user(), await world.user()];
		await world.follow(bob.id, ada.id);
		const pins = [];
		for (let n = 0; n < 6; n++) pins.push(await world.pin(ada));
		await world.visited(bob.id);
		await world.offer(bob.id, pins, ada.id);
		await Promise.all([1, 2, 3].map(() => world.look(world.another(), bob.id)));
		const shown = await world.look(world.another(), bob.id);
		assert.deepEqual(shown.toSorted(), pins.toSorted());
	});

	it("F1: a repin of a picture that was shown is not shown, nor one of a picture that was hidden", async () => {
		const [ada, cyd, bob] = [
			await world.user(),
			await world.user(),
			await world.user(),
		];
		for (const { id } of [ada, cyd]) await world.follow(bob.id, id);
		const origin = await world.pin(ada);
		const device = world.another();
		assert.deepEqual(await world.look(device, bob.id), [origin]);
		await device.flush();
		const { repin } = await world.ask<{ repin: { pin: { id: string } } }>(
			cyd.id,
			`mutation { repin(input: {pinId: "${origin}", boardId: "${cyd.board}"}) { pin { id } } }`,
		);
		await world.offer(bob.id, [repin.pin.id as never], cyd.id, { origin });
		assert.deepEqual(await world.look(device, bob.id), [origin]);
		await device.flush();
		// The pool may be lost: the feed itself remembers.
		await world.pools.forget(bob.id);
		assert.deepEqual(await world.look(device, bob.id), [origin]);
	});
});
