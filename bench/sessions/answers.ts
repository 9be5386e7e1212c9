import type { Kind } from "./documents.ts";

/** Answers as every server's schema can be read: what a person sees. */
export interface Profile {
	readonly id: string;
	readonly username: string;
	readonly bio: string | null;
	/** False for somebody who is not signed in. */
	readonly viewerFollows: boolean;
	readonly followers: number;
	readonly following: number;
	readonly pins: number;
	readonly boards: Page<Board>;
}

export interface Page<Item> {
	readonly items: readonly Item[];
	/** Cursor of the next page; null behind the last. */
	readonly next: string | null;
}

export interface Board {
	readonly id: string;
	readonly name: string;
	readonly pins: readonly { readonly id: string; readonly details: string }[];
}

export interface BoardPin {
	readonly id: string;
	readonly details: string;
	readonly viewerLikes: boolean;
	readonly likes: number;
}

export interface OpenBoard {
	readonly id: string;
	readonly name: string;
	readonly owner: Named;
	readonly pins: Page<BoardPin>;
}

export interface OpenPin extends BoardPin {
	readonly link: string | null;
	readonly owner: Named & { readonly viewerFollows: boolean };
	readonly board: { readonly id: string; readonly name: string };
	readonly likers: readonly Named[];
}

export interface Named {
	readonly id: string;
	readonly username: string;
}

export interface Answers {
	readonly profile: Profile;
	readonly boards: Page<Board>;
	readonly board: OpenBoard;
	readonly boardPage: Page<BoardPin>;
	readonly pin: OpenPin;
	/** The id of what was written or liked. */
	readonly likePin: string;
	readonly createPin: string;
	readonly followUser: string;
}

/** A JSON object of an answer. PostGraphile says whether by a count, and has a row between an edge and its user. */
// biome-ignore lint/suspicious/noExplicitAny: three schemas are read by one reader, which a missing field makes throw.
type Json = any;

const whether = (value: Json): boolean =>
	typeof value === "object" && value !== null
		? value.totalCount > 0
		: value === true;

function pageOf<Item>(
	{ nodes, pageInfo }: Json,
	item: (node: Json) => Item,
): Page<Item> {
	return {
		items: nodes.map(item),
		next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
	};
}

const boardOf = ({ id, name, pins }: Json): Board => ({
	id,
	name,
	pins: pins.nodes.map(({ id, details }: Json) => ({ id, details })),
});

const pinOf = ({
	id,
	details,
	viewerLikes,
	likeCount,
	likedBy,
}: Json): BoardPin => ({
	id,
	details,
	viewerLikes: whether(viewerLikes),
	likes: likeCount ?? likedBy.totalCount,
});

const namedOf = ({ id, username }: Json): Named => ({ id, username });

export const READERS: {
	readonly [K in Kind]: (data: Json) => Answers[K];
} = {
	profile({ user }) {
		const { id, username, bio, viewerFollows, counts, boards } = user;
		return {
			id,
			username,
			bio,
			viewerFollows: whether(viewerFollows),
			followers: counts?.followers ?? user.followers.totalCount,
			following: counts?.following ?? user.following.totalCount,
			pins: counts?.pins ?? user.pins.totalCount,
			boards: pageOf(boards, boardOf),
		};
	},
	boards: ({ user }) => pageOf(user.boards, boardOf),
	board: ({ board: { id, name, owner, pins } }) => ({
		id,
		name,
		owner: namedOf(owner),
		pins: pageOf(pins, pinOf),
	}),
	boardPage: ({ board }) => pageOf(board.pins, pinOf),
	pin({ pin }) {
		const { link, owner, board, likedBy } = pin;
		return {
			...pinOf(pin),
			link,
			owner: {
				...namedOf(owner),
				viewerFollows: whether(owner.viewerFollows),
			},
			board: { id: board.id, name: board.name },
			likers: likedBy.nodes.map((node: Json) => namedOf(node.user ?? node)),
		};
	},
	likePin: (data) => (data.likePin ?? data.createLike.like).pin.id,
	createPin: (data) => data.createPin.pin.id,
	followUser: (data) => (data.followUser ?? data.createFollow.follow).user.id,
};
