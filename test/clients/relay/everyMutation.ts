import { FOLLOWED, LIKED, listsOf, type Selections } from "../everyMutation.ts";

const keyOf = (field: string) => `Every_${/^\w+/.exec(field)?.[0]}`;

/** The compiler adds cursors and pageInfo. */
export const list = (field: string, node: string) =>
	`${field} @connection(key: "${keyOf(field)}") { edges { node { ${node} } } }`;

const { viewer, board } = listsOf(list);
const TO = "(connections: $connections)";
const removed = (field: string) => `${field} @deleteEdge${TO}`;
const first = (edge: string, node: string) =>
	`${edge} @prependEdge${TO} { cursor node { ${node} } }`;
const followed = (kind: string, edge: string) =>
	`${kind} { ${FOLLOWED} } ${first(edge, "id")}`;
const unfollowed = (kind: string) =>
	`${kind} { id @deleteEdge${TO} viewerFollows followers(first: 0) { totalCount } }`;
const PIN = "id title section { id name }";

/** The store puts new edges in and takes old ones out by directives; a list in a new order replaces the old one. */
export const SELECTIONS: Selections = {
	createUser: "user { id } token",
	updateUser: "user { id name }",
	deactivateUser: "deactivatedUserId @deleteRecord",

	createBoard: first("boardEdge", "id name"),
	updateBoard: "board { id name }",
	moveBoard: `viewer { id ${viewer.boards} }`,
	deleteBoard: removed("deletedBoardId"),

	createSection: first("sectionEdge", "id name"),
	updateSection: "section { id name }",
	moveSection: `board { id ${board.sections} }`,
	// The pins that were in it show no section any more.
	deleteSection: `${removed("deletedSectionId")} board { id ${board.pins} }`,

	createPin: first("pinEdge", PIN),
	repin: first("pinEdge", PIN),
	movePin: `board { id ${board.pins} }`,
	updatePin: "pin { id title }",
	movePins: `pins { id section { id name } board { id ${board.pins} } }`,
	deletePin: removed("deletedPinId"),
	deletePins: removed("deletedPinIds"),

	addCollaborator: first("collaboratorEdge", "id"),
	removeCollaborator: removed("removedUserId"),

	likePin: `pin { ${LIKED} } ${first("likedPinEdge", "id")}`,
	unlikePin: `pin { id @deleteEdge${TO} viewerLikes likedBy(first: 0) { totalCount } }`,

	addComment: `commentEdge @appendEdge${TO} { cursor node { id text } }`,
	updateComment: "comment { id text }",
	deleteComment: removed("deletedCommentId"),

	followBoard: followed("board", "followedBoardEdge"),
	unfollowBoard: unfollowed("board"),
	followUser: followed("user", "followedUserEdge"),
	unfollowUser: unfollowed("user"),
	followInterest: followed("interest", "followedInterestEdge"),
	unfollowInterest: unfollowed("interest"),

	blockUser: first("blockedUserEdge", "id"),
	unblockUser: `user { id @deleteEdge${TO} }`,

	hideFromHomeFeed: "hiddenPinId",
	refreshHomeFeed: "added",

	report: "subject { id }",
};

/** The list whose edges a mutation adds or takes away: whose it is, and its field. */
export const CHANGED: Readonly<
	Record<string, readonly ["viewer" | "own" | "pin", string]>
> = {
	createBoard: ["viewer", "boards"],
	deleteBoard: ["viewer", "boards"],
	createSection: ["own", "sections"],
	deleteSection: ["own", "sections"],
	createPin: ["own", "pins"],
	repin: ["own", "pins"],
	deletePin: ["own", "pins"],
	deletePins: ["own", "pins"],
	addCollaborator: ["own", "collaborators"],
	removeCollaborator: ["own", "collaborators"],
	likePin: ["viewer", "likes"],
	unlikePin: ["viewer", "likes"],
	addComment: ["pin", "comments"],
	deleteComment: ["pin", "comments"],
	followBoard: ["viewer", "followedBoards"],
	unfollowBoard: ["viewer", "followedBoards"],
	followUser: ["viewer", "following"],
	unfollowUser: ["viewer", "following"],
	followInterest: ["viewer", "followedInterests"],
	unfollowInterest: ["viewer", "followedInterests"],
	blockUser: ["viewer", "blockedUsers"],
	unblockUser: ["viewer", "blockedUsers"],
};

export { keyOf };
