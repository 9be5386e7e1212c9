import type { Id } from "../../../src/id/ids.ts";
import type { Random } from "../../../src/util/random.ts";

/** What is there to ask about, and to change. */
export interface Known {
	/** Null: nobody is signed in. */
	readonly viewers: readonly (Viewer | null)[];
	readonly users: readonly KnownUser[];
	readonly boards: readonly Owned[];
	readonly pins: Owned[];
}

export interface KnownUser {
	readonly id: Id;
	/** As long as nobody renames it. */
	readonly username: string;
}

export interface Viewer extends KnownUser {
	readonly token: string;
}

export interface Owned {
	readonly id: Id;
	readonly owner: Id;
}

export interface Question {
	readonly viewer: Viewer | null;
	readonly document: string;
	readonly variables: Readonly<Record<string, unknown>>;
	/** The field below `shown` whose next page may be asked for. */
	readonly list: string | null;
}

const USER = "id username name viewerFollows";
const PIN =
	"id details viewerLikes likeCount viewerHasSaved viewerCanUpdate board { id name } owner { id username }";
const BOARD =
	"id name secret viewerFollows viewerCanUpdate owner { id username }";
const PAGE = "totalCount pageInfo { hasNextPage hasPreviousPage endCursor }";

const page = (list: string, fields: string) =>
	`${list}(first: $first, after: $after) { ${PAGE} edges { cursor node { ${fields} } } }`;
const LIST = "query ($id: ID!, $first: Int, $after: String)";

/** Documents, and the list of each that continues behind its first page. */
const DOCUMENTS = {
	profile: [
		`query ($id: ID!) { shown: user(by: {id: $id}) { ${USER}
			boards(first: 4) { ${PAGE} nodes { ${BOARD} pins(first: 4) { ${PAGE} nodes { ${PIN} } } } }
			likes(first: 5) { ${PAGE} nodes { ${PIN} } }
			followers(first: 5) { ${PAGE} nodes { ${USER} } }
			following(first: 5) { ${PAGE} nodes { ${USER} } }
		} }`,
		null,
	],
	username: [
		`query ($username: String!) { shown: user(by: {username: $username}) { ${USER} pins(first: 3) { ${PAGE} nodes { id } } } }`,
		null,
	],
	boardPins: [
		`${LIST} { shown: board(id: $id) { ${BOARD} ${page("pins", PIN)} } }`,
		"pins",
	],
	pin: [
		`query ($id: ID!) { shown: pin(id: $id) { ${PIN} comments(first: 3) { ${PAGE} nodes { text author { ${USER} } } } likedBy(first: 10) { ${PAGE} nodes { ${USER} } } } }`,
		null,
	],
	likes: [
		`${LIST} { shown: user(by: {id: $id}) { id ${page("likes", PIN)} } }`,
		"likes",
	],
	following: [
		`${LIST} { shown: user(by: {id: $id}) { id ${page("following", USER)} } }`,
		"following",
	],
	followers: [
		`${LIST} { shown: user(by: {id: $id}) { id ${page("followers", USER)} } }`,
		"followers",
	],
	likedBy: [
		`${LIST} { shown: pin(id: $id) { id ${page("likedBy", USER)} } }`,
		"likedBy",
	],
	nodes: [
		`query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on User { ${USER} } ... on Board { ${BOARD} } ... on Pin { ${PIN} } } }`,
		null,
	],
	blocked: [
		`{ shown: viewer { ${USER} blockedUsers(first: 50) { ${PAGE} nodes { ${USER} } } } }`,
		null,
	],
} as const;
type DocumentName = keyof typeof DOCUMENTS;
const NAMES = Object.keys(DOCUMENTS) as readonly DocumentName[];
const NODES = 12;
/** What viewers add to their names. */
const RENAMED = ["", "", "_a"];
const SIZES = [5, 25, 25, 50];
/** The larger, the more alike is the popularity of users and pins. */
const FLATNESS = 10;

export function randomQuestion(known: Known, random: Random): Question {
	const { users, boards, pins } = known;
	const viewer = random.pick(known.viewers);
	const name = random.chance(0.3) ? "boardPins" : random.pick(NAMES);
	const [document, list] = DOCUMENTS[name];
	const id = () => {
		if (name === "boardPins") return random.pick(boards).id;
		if (name === "pin" || name === "likedBy")
			return random.pickPopular(pins, FLATNESS).id;
		return random.pickPopular(users, FLATNESS).id;
	};
	const variables = (): Question["variables"] => {
		if (name === "username") {
			const { username } = random.pick(users);
			return { username: `${username}${random.pick(RENAMED)}` };
		}
		if (name === "blocked") return {};
		if (name === "nodes") {
			const things = [...users, ...boards, ...pins];
			return {
				ids: random
					.shuffled(things)
					.slice(0, NODES)
					.map((one) => one.id),
			};
		}
		return { id: id(), ...(list && { first: random.pick(SIZES) }) };
	};
	return { viewer, document, variables: variables(), list };
}

/** The next page of the list that was asked for, by what was answered; null: there is none. */
export function nextPage(question: Question, answer: string): Question | null {
	const { list, variables } = question;
	if (list === null) return null;
	const { data } = JSON.parse(answer) as {
		data: { shown: Readonly<Record<string, Page>> | null } | null;
	};
	const pageInfo = data?.shown?.[list]?.pageInfo;
	if (!pageInfo?.hasNextPage) return null;
	return {
		...question,
		variables: { ...variables, after: pageInfo.endCursor },
	};
}

interface Page {
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly endCursor: string | null;
	};
}

export interface Change {
	readonly viewer: Viewer;
	readonly name: string;
	readonly input: Readonly<Record<string, unknown>>;
	/** What is asked of the payload. */
	readonly select: string;
}

/** A mutation that mostly succeeds. */
export function randomChange(known: Known, random: Random): Change {
	const viewers = known.viewers.filter((one) => one !== null);
	const viewer = random.pick(viewers);
	const own = (things: readonly Owned[]) => {
		const found = things.filter(({ owner }) => owner === viewer.id);
		return found.length === 0 ? null : random.pick(found);
	};
	const board = own(known.boards);
	const pin = own(known.pins);
	const user = random.chance(0.3)
		? random.pick(viewers)
		: random.pick(known.users);
	const change = (
		name: string,
		input: Change["input"],
		select = "__typename",
	): Change => ({ viewer, name, input, select });
	const draw = random.fraction();
	if (draw < 0.3) {
		const liked = random.pickPopular(known.pins, FLATNESS);
		const name = random.chance(0.6) ? "likePin" : "unlikePin";
		return change(name, { pinId: liked.id });
	}
	if (draw < 0.42) {
		const name = random.chance(0.6) ? "followUser" : "unfollowUser";
		return change(name, { userId: user.id });
	}
	if (draw < 0.54) {
		const name = random.chance(0.4) ? "blockUser" : "unblockUser";
		return change(name, { userId: user.id });
	}
	if (draw < 0.6) {
		const pinId = random.pickPopular(known.pins, FLATNESS).id;
		return change("addComment", { pinId, text: `by ${viewer.username}` });
	}
	if (draw < 0.64) {
		return change("updateUser", { name: `Name ${random.integer(1, 99)}` });
	}
	if (draw < 0.68) {
		const username = `${viewer.username}${random.pick(RENAMED)}`;
		return change("updateUser", { username });
	}
	if (draw < 0.76 && board) {
		return change("updateBoard", {
			boardId: board.id,
			secret: random.chance(0.4),
		});
	}
	if (draw < 0.84 && board) {
		return change(
			"createPin",
			{ boardId: board.id, details: "new" },
			"pin { id }",
		);
	}
	if (draw < 0.88 && pin) return change("deletePin", { pinId: pin.id });
	if (draw < 0.94 && pin && board) {
		return change("movePin", { pinId: pin.id, boardId: board.id });
	}
	if (pin) {
		return change("updatePin", {
			pinId: pin.id,
			details: `${random.integer(1, 99)}`,
		});
	}
	return change("followUser", { userId: user.id });
}
