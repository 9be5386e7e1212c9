import { FOLLOWED, LIKED, listsOf, type Selections } from "../everyMutation.ts";

/** Apollo's cache merges a list that a payload selects whole. */
export const list = (field: string, node: string) =>
	`${field} { edges { cursor node { ${node} } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }`;

const { viewer, board, pin } = listsOf(list);
const own = (lists: string) => `viewer { id ${lists} }`;
const on = (lists: string) => `board { id ${lists} }`;

export const SELECTIONS: Selections = {
	createUser: "user { id } token",
	updateUser: "user { id name }",
	deactivateUser: "deactivatedUserId",

	createBoard: own(viewer.boards),
	updateBoard: "board { id name }",
	moveBoard: own(viewer.boards),
	deleteBoard: own(viewer.boards),

	createSection: on(board.sections),
	updateSection: "section { id name }",
	moveSection: on(board.sections),
	deleteSection: on(`${board.sections} ${board.pins}`),

	createPin: on(board.pins),
	repin: on(board.pins),
	movePin: on(board.pins),
	updatePin: "pin { id title }",
	movePins: `pins { id section { id name } ${on(board.pins)} }`,
	deletePin: on(board.pins),
	deletePins: own(list("boards(first: 50)", `id name ${board.pins}`)),

	addCollaborator: on(board.collaborators),
	removeCollaborator: on(board.collaborators),

	likePin: `pin { ${LIKED} } ${own(viewer.likes)}`,
	unlikePin: `pin { ${LIKED} } ${own(viewer.likes)}`,

	addComment: `pin { id ${pin.comments} }`,
	updateComment: "comment { id text }",
	deleteComment: `pin { id ${pin.comments} }`,

	followBoard: `board { ${FOLLOWED} } ${own(viewer.followedBoards)}`,
	unfollowBoard: `board { ${FOLLOWED} } ${own(viewer.followedBoards)}`,
	followUser: `user { ${FOLLOWED} } ${own(viewer.following)}`,
	unfollowUser: `user { ${FOLLOWED} } ${own(viewer.following)}`,
	followInterest: `interest { ${FOLLOWED} } ${own(viewer.followedInterests)}`,
	unfollowInterest: `interest { ${FOLLOWED} } ${own(viewer.followedInterests)}`,

	blockUser: own(viewer.blockedUsers),
	unblockUser: own(viewer.blockedUsers),

	hideFromHomeFeed: "hiddenPinId",
	refreshHomeFeed: "added",

	report: "subject { id }",
};
