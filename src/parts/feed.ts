import type { Part } from "../app/defineApp.ts";
import type {
	FeedOf,
	Name,
	PartOf,
	SchemaTypes,
	TypeOf,
} from "../app/forSchema.ts";
import { CorkboardError } from "../errors.ts";
import { RELATED_COST } from "../feed/candidates/related.ts";
import { type FeedOfRequest, LOOK_COST } from "../feed/homeFeeds.ts";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import { required } from "../graphql/input/readInput.ts";
import { id } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import { words } from "../model/expand/expandPages.ts";
import type { Model } from "../model/types.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { coerceFirst } from "../plan/pageArguments.ts";
import { mutation } from "../resolvers/mutation.ts";
import { requireVisible } from "../resolvers/requireVisible.ts";
import { sizeOfList } from "../resolvers/rootField.ts";
import { referenceOf } from "../resolvers/storedJson.ts";

/** The names that a home feed has in an app. Its SDL has the list, and the fields that are named here. */
export type FeedOptions<S extends SchemaTypes> = FeedOf<S> & {
	/** The type of those who read feeds. */
	readonly reader: TypeOf<S>;
	/** The type of what is in feeds. */
	readonly item: TypeOf<S>;
	/** Fields that the SDL has for feeds, as `Type.field`. */
	readonly fields?: {
		/** The reader's field for how many items wait, at most 99. */
		readonly waiting?: Name<S["resolvers"]>;
		/** The item's field for why it is in the viewer's feed, a type with `source`, `via` and `at`; and the values of its enum by the names of the sources. */
		readonly reason?: readonly [
			Name<S["resolvers"]>,
			values: Readonly<Record<string, string>>,
		];
		/** The item's field for what stands next to it, a type with `nodes` and `pageInfo`. */
		readonly related?: Name<S["resolvers"]>;
		/** Adds what waits to the reader's feed: takes the reader's id, and returns `added` and `viewer`. */
		readonly refresh?: Name<S["resolvers"]>;
		/** Takes an item out of the viewer's feed: takes its id, and returns `hiddenItemId`, with the type's name for `Item`, and `viewer`. */
		readonly hide?: Name<S["resolvers"]>;
	};
};

/** A home feed, with the names of an app. Its list is private to its owner. */
export function feed<S extends SchemaTypes>({
	reader,
	item,
	fields: { waiting, reason, related, refresh, hide } = {},
	...definition
}: FeedOptions<S>): PartOf<S> {
	const resolvers = new Map<string, BatchResolver<RequestContext>>();
	const { origin } = definition;
	if (waiting) resolvers.set(waiting, waitingOf);
	if (reason) resolvers.set(reason[0], reasonOf(origin, reason[1]));
	if (related) resolvers.set(related, relatedOf);
	if (refresh) resolvers.set(refresh, refreshing(refresh, reader));
	if (hide) resolvers.set(hide, hiding(hide, item, origin));
	const part: Part = {
		resolvers,
		policies: { visibility: { privateLists: [definition.list] } },
		feed: definition,
	};
	// The names are those of the options, which TypeScript has checked.
	return part as unknown as PartOf<S>;
}

/** A count above this is this. */
const MAX_WAITING = 99;

/** So many are kept of what the walk finds. */
const MAX_RELATED = 20;

/** Only the reader's own. */
const waitingOf: BatchResolver<RequestContext> = {
	cost: () => 1,
	maxObjects: () => 0,
	dependsOnViewer: true,
	resolve({ parents, context: { feed, viewer } }) {
		const isOwn = (reader: Node | null) =>
			reader !== null && reader.id === viewer;
		if (!feed || viewer === null || !parents.some(isOwn)) {
			return parents.map(() => null);
		}
		return feed
			.waiting(viewer, MAX_WAITING)
			.then((count) => parents.map((one) => (isOwn(one) ? count : null)));
	},
};

/** What the item was made from; the item itself if it was made from nothing. */
function originOf(model: Model, node: Node, origin: string | undefined): Id {
	const made = origin === undefined ? null : referenceOf(model, node, origin);
	return made ?? node.id;
}

/** One read of the viewer's pool for all items. */
function reasonOf(
	origin: string | undefined,
	values: Readonly<Record<string, string>>,
): BatchResolver<RequestContext> {
	return {
		cost: () => 1,
		maxObjects: () => 1,
		dependsOnViewer: true,
		resolve({ parents, context: { feed, graph, viewer } }) {
			if (!feed || viewer === null) return parents.map(() => null);
			const items = (parents as readonly Node[]).map((node) => ({
				item: node.id,
				origin: originOf(graph.model, node, origin),
			}));
			return feed.reasons(viewer, items).then((reasons) =>
				reasons.map(
					(reason) =>
						reason && {
							source: values[reason.source] as string,
							via: reason.via,
							at: new Date(reason.changedAt).toISOString(),
						},
				),
			);
		},
	};
}

/** The same for a visitor, but for what the viewer may not see and what is the viewer's own. */
const relatedOf: BatchResolver<RequestContext> = {
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
					(found) => pageOfRelated(found, first, after),
					(thrown: unknown) => {
						if (thrown instanceof CorkboardError) return thrown;
						throw thrown;
					},
				),
			),
		);
	},
};

/** An item, and how many were before it. */
interface RelatedCursor {
	readonly at: number;
	readonly item: string;
}

function coerceRelatedCursor(given: unknown): RelatedCursor | null {
	// As in other lists, an empty cursor is none.
	if (given === undefined || given === null || given === "") return null;
	const text = Buffer.from(String(given), "base64url").toString("latin1");
	const [, at, item] = /^(\d{1,3}):(\d{1,19})$/.exec(text) ?? [];
	if (at !== undefined && item !== undefined) return { at: Number(at), item };
	throw new CorkboardError(
		"BAD_USER_INPUT",
		"after must be a cursor of this list, from pageInfo.",
	);
}

/** A page of what was found anew. If the cursor's item is not there any more, the page begins in its place. */
function pageOfRelated(
	found: readonly Id[],
	first: number,
	after: RelatedCursor | null,
) {
	const known = after === null ? -1 : found.indexOf(after.item as Id);
	const start = after === null ? 0 : known === -1 ? after.at : known + 1;
	const nodes = found.slice(start, start + first);
	const cursorOf = (at: number, item: Id | undefined) =>
		item === undefined
			? null
			: Buffer.from(`${at}:${item}`, "latin1").toString("base64url");
	return {
		nodes,
		pageInfo: {
			hasNextPage: start + nodes.length < found.length,
			hasPreviousPage: start > 0 && found.length > 0,
			startCursor: cursorOf(start, nodes[0]),
			endCursor: cursorOf(start + nodes.length - 1, nodes.at(-1)),
		},
	};
}

function refreshing(
	path: string,
	reader: string,
): BatchResolver<RequestContext> {
	const idField = idFieldOf(reader);
	return mutation(
		{
			name: nameOf(path),
			input: () => ({ [idField]: required(id) }),
			cost: () => LOOK_COST + 1,
		},
		async (input, context) => {
			const given = input[idField] ?? "reserved";
			const found = await requireVisible(context, reader, given);
			if (found.id !== context.viewer) {
				throw new CorkboardError(
					"FORBIDDEN",
					`Only the ${words(reader)}s themselves may refresh their home feeds.`,
				);
			}
			const added = await requireFeed(context.feed).refresh(
				context.viewer,
				context.call,
			);
			return { added, viewer: context.viewer };
		},
	);
}

function hiding(
	path: string,
	item: string,
	origin: string | undefined,
): BatchResolver<RequestContext> {
	const idField = idFieldOf(item);
	return mutation(
		{
			name: nameOf(path),
			input: () => ({ [idField]: required(id) }),
			cost: () => 2,
		},
		async (input, context) => {
			const { graph, viewer } = context;
			const given = input[idField] ?? "reserved";
			const found = await requireVisible(context, item, given);
			await requireFeed(context.feed).hide(
				viewer,
				{ item: found.id, origin: originOf(graph.model, found, origin) },
				context,
			);
			return { [`hidden${item}Id`]: found.id, viewer };
		},
	);
}

/** `pinId` of `Pin`. */
function idFieldOf(type: string): string {
	return `${type.charAt(0).toLowerCase()}${type.slice(1)}Id`;
}

/** `refreshFeed` of `Mutation.refreshFeed`. */
function nameOf(path: string): string {
	return path.slice(path.indexOf(".") + 1);
}

function requireFeed(feed: FeedOfRequest | null): FeedOfRequest {
	if (feed !== null) return feed;
	throw new CorkboardError(
		"UNAVAILABLE",
		"This server keeps no home feeds: its topology has no pools, or CORKBOARD_FEED is off.",
	);
}
