import {
	type BatchResolver,
	CorkboardError,
	coerceFirst,
	type FeedOfRequest,
	type Id,
	id,
	LOOK_COST,
	mutation,
	type Node,
	type PartOf,
	RELATED_COST,
	type RequestContext,
	required,
	type Source,
	sizeOfList,
} from "corkboard";
import { referenceOf, requireVisible, type Schema } from "../typed.ts";

/** A count above this is this. */
const MAX_WAITING = 99;

/** So many are kept of what the walk finds. */
const MAX_RELATED = 20;

const SOURCE_VALUES: Readonly<Record<Source, string>> = {
	user: "FOLLOWED_USER",
	board: "FOLLOWED_BOARD",
	interest: "FOLLOWED_INTEREST",
	related: "RELATED",
};

/** Only the user's own. */
const homeFeedWaiting: BatchResolver<RequestContext> = {
	cost: () => 1,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve({ parents, context: { feed, viewer } }) {
		const isOwn = (user: Node | null) => user !== null && user.id === viewer;
		if (!feed || viewer === null || !parents.some(isOwn)) {
			return parents.map(() => null);
		}
		return feed
			.waiting(viewer, MAX_WAITING)
			.then((count) => parents.map((user) => (isOwn(user) ? count : null)));
	},
};

/** One read of the viewer's pool for all pins. */
const homeFeedReason: BatchResolver<RequestContext> = {
	cost: () => 1,
	maxObjects: () => 1,
	dependsOnViewer: true,
	resolve({ parents, context: { feed, graph, viewer } }) {
		if (!feed || viewer === null) return parents.map(() => null);
		const pins = (parents as readonly Node[]).map((pin) => ({
			item: pin.id,
			origin: (referenceOf(graph.model, pin, "origin") ?? pin.id) as Id,
		}));
		return feed.reasons(viewer, pins).then((reasons) =>
			reasons.map(
				(reason) =>
					reason && {
						source: SOURCE_VALUES[reason.source] as string,
						via: reason.via,
						at: new Date(reason.changedAt).toISOString(),
					},
			),
		);
	},
};

/** The same for a visitor, but for what the viewer may not see and what is the viewer's own. */
const related: BatchResolver<RequestContext> = {
	cost: () => RELATED_COST,
	maxObjects: ({ first }) => Math.min(MAX_RELATED, sizeOfList({ first })),
	dependsOnViewer: true,
	resolve({ parents, args, context: { feed, viewer } }) {
		const first = coerceFirst(args);
		const after = coerceRelatedCursor(args.after);
		if (!feed) return parents.map(() => null);
		return Promise.all(
			(parents as readonly Node[]).map(({ id }) =>
				feed.related(viewer, id).then(
					(pins) => pageOfRelated(pins, first, after),
					(thrown: unknown) => {
						if (thrown instanceof CorkboardError) return thrown;
						throw thrown;
					},
				),
			),
		);
	},
};

/** A pin, and how many were before it. */
interface RelatedCursor {
	readonly at: number;
	readonly pin: string;
}

function coerceRelatedCursor(given: unknown): RelatedCursor | null {
	// As in other lists, an empty cursor is none.
	if (given === undefined || given === null || given === "") return null;
	const text = Buffer.from(String(given), "base64url").toString("latin1");
	const [, at, pin] = /^(\d{1,3}):(\d{1,19})$/.exec(text) ?? [];
	if (at !== undefined && pin !== undefined) return { at: Number(at), pin };
	throw new CorkboardError(
		"BAD_USER_INPUT",
		"after must be a cursor of this list, from pageInfo.",
	);
}

/** A page of what was found anew. If the cursor's pin is not there any more, the page begins in its place. */
function pageOfRelated(
	pins: readonly Id[],
	first: number,
	after: RelatedCursor | null,
) {
	const found = after === null ? -1 : pins.indexOf(after.pin as Id);
	const start = after === null ? 0 : found === -1 ? after.at : found + 1;
	const nodes = pins.slice(start, start + first);
	const cursorOf = (at: number, pin: Id | undefined) =>
		pin === undefined
			? null
			: Buffer.from(`${at}:${pin}`, "latin1").toString("base64url");
	return {
		nodes,
		pageInfo: {
			hasNextPage: start + nodes.length < pins.length,
			hasPreviousPage: start > 0 && pins.length > 0,
			startCursor: cursorOf(start, nodes[0]),
			endCursor: cursorOf(start + nodes.length - 1, nodes.at(-1)),
		},
	};
}

const refreshHomeFeed = mutation(
	{
		name: "refreshHomeFeed",
		input: () => ({ userId: required(id) }),
		cost: () => LOOK_COST + 1,
	},
	async (input, context) => {
		const user = await requireVisible(context, "User", input.userId);
		if (user.id !== context.viewer) {
			throw new CorkboardError(
				"FORBIDDEN",
				"Only the users themselves may refresh their home feeds.",
			);
		}
		const added = await requireFeed(context.feed).refresh(
			context.viewer,
			context.call,
		);
		return { added, viewer: context.viewer };
	},
);

const hideFromHomeFeed = mutation(
	{
		name: "hideFromHomeFeed",
		input: () => ({ pinId: required(id) }),
		cost: () => 2,
	},
	async (input, context) => {
		const pin = await requireVisible(context, "Pin", input.pinId);
		const { graph, viewer } = context;
		const origin = referenceOf(graph.model, pin, "origin") ?? pin.id;
		await requireFeed(context.feed).hide(
			viewer,
			{ item: pin.id, origin: origin as Id },
			context,
		);
		return { hiddenPinId: pin.id, viewer };
	},
);

function requireFeed(feed: FeedOfRequest | null): FeedOfRequest {
	if (feed !== null) return feed;
	throw new CorkboardError(
		"UNAVAILABLE",
		"This server keeps no home feeds: its topology has no pools, or CORKBOARD_FEED is off.",
	);
}

/** What those whom a user follows saved, and what stands next to it. */
export const homeFeed: PartOf<Schema> = {
	resolvers: new Map([
		["User.homeFeedWaiting", homeFeedWaiting],
		["Pin.homeFeedReason", homeFeedReason],
		["Pin.related", related],
		["Mutation.refreshHomeFeed", refreshHomeFeed],
		["Mutation.hideFromHomeFeed", hideFromHomeFeed],
	]),
	policies: { visibility: { privateLists: ["showPin"] } },
	feed: {
		list: "showPin",
		owner: "owner",
		origin: "origin",
		from: [
			{ name: "user", follow: "followUser", items: "ownPin" },
			{ name: "board", follow: "followBoard", items: "placePin" },
			{ name: "interest", follow: "followInterest", items: "filePin.inverse" },
		],
		related: { liked: "likePin", copies: "repin", together: "placePin" },
		// Six of ten from people and their boards.
		rates: [
			{ sources: ["user", "board"], rate: 6 },
			{ sources: ["interest"], rate: 2 },
			{ sources: ["related"], rate: 2 },
		],
	},
};
