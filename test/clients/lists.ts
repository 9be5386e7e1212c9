import assert from "node:assert/strict";
import { type Client, client } from "../helpers/client.ts";
import { until } from "../helpers/until.ts";

/** What the API itself says, by plain requests: what the clients are held to. */
export function plainly(url: string, token: string | null = null): Client {
	return client(new URL(url).origin, token);
}

/** A board with more pins than one page of a test holds, its owner not the demo user. */
export async function longBoard(
	url: string,
): Promise<{ readonly id: string; readonly pins: readonly string[] }> {
	const { user } = await plainly(url).data<{
		user: {
			boards: {
				nodes: { id: string; pins: { nodes: { id: string }[] } }[];
			};
		};
	}>(`{ user(by: {username: "marigold_01"}) {
		boards(first: 20) { nodes { id pins(first: 100) { nodes { id } } } }
	} }`);
	const [longest] = user.boards.nodes.toSorted(
		(a, b) => b.pins.nodes.length - a.pins.nodes.length,
	);
	if (longest === undefined || longest.pins.nodes.length < 25) {
		throw new Error("expected the demo user to have a board of 25 pins");
	}
	return { id: longest.id, pins: longest.pins.nodes.map(({ id }) => id) };
}

/** A pin with nine comments and more, oldest first: the last nine are made here. */
export async function talkedAbout(
	url: string,
	token: string,
): Promise<{ readonly id: string; readonly comments: readonly string[] }> {
	const { pins } = await longBoard(url);
	const viewer = plainly(url, token);
	const [id = ""] = pins;
	for (let n = 1; n <= 9; n++) {
		await viewer.data(
			"mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }",
			{ input: { pinId: id, text: `What there is to say, part ${n}` } },
		);
	}
	const { pin } = await viewer.data<{
		pin: { comments: { nodes: { id: string }[] } };
	}>(
		"query ($id: ID!) { pin(id: $id) { comments(first: 100) { nodes { id } } } }",
		{ id },
	);
	return { id, comments: pin.comments.nodes.map(({ id }) => id) };
}

/** All pins of the viewer's home feed, the newest visit's on top. */
export async function homeFeed(
	url: string,
	token: string,
): Promise<readonly string[]> {
	const { viewer } = await plainly(url, token).data<{
		viewer: { homeFeed: { edges: { node: { id: string } }[] } };
	}>("{ viewer { homeFeed(last: 100) { edges { node { id } } } } }");
	return ids(viewer.homeFeed.edges);
}

/** Pages of a home feed as a client shows them. */
export interface ShownFeed {
	readonly ids: () => readonly string[];
	/** Each reads a page, and says whether there is another one. */
	readonly older: () => Promise<boolean>;
	readonly newer: () => Promise<boolean>;
	readonly refresh: () => Promise<unknown>;
}

/**
 * Pages down, refreshes until there are new pins, reads all of these, and then all
 * older ones: what is shown is what the server has, no pin twice, none skipped.
 */
export async function pageWhileItGrows(
	shown: ShownFeed,
	truth: () => Promise<readonly string[]>,
): Promise<void> {
	const [first] = shown.ids();
	assert.equal(shown.ids().length, 10);
	await shown.older();
	// If the machine stalls, the pins come with a later refresh.
	await until("new pins", async () => {
		await shown.refresh();
		while (await shown.newer());
		return shown.ids()[0] !== first;
	});
	for (let page = 0; page < 50 && (await shown.older()); page++);
	assert.deepEqual(shown.ids(), await truth());
	assert.ok(shown.ids().length > 20);
}

/** A sign-up whose fields are wrong, and what `fieldsOf` of each client has of its error. */
export const REFUSED = {
	input: { username: "x y", website: "nothing", avatar: { url: "nowhere" } },
	fields: {
		username: "Use 3 to 30 letters, digits or underscores.",
		website: "Give an address that begins with http:// or https://.",
		"avatar.url": "Give an address that begins with http:// or https://.",
	},
};

export function ids(edges: readonly { readonly node: { id: string } }[]) {
	return edges.map(({ node }) => node.id);
}
