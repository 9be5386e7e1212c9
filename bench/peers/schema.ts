/** What Mercurius, Yoga and Apollo serve: the part of the graph that the benchmark reads and writes. */
export const typeDefs = /* GraphQL */ `
	type Query {
		viewer: User
		nodes(ids: [ID!]!): [Node]!
		user(id: ID!): User
		board(id: ID!): Board
		pin(id: ID!): Pin
	}
	interface Node {
		id: ID!
	}
	type PageInfo {
		hasNextPage: Boolean!
		endCursor: String
	}
	type User implements Node {
		id: ID!
		username: String!
		bio: String
		viewerFollows: Boolean
		counts: Counts!
		boards(first: Int!, after: String): BoardConnection!
		pins(first: Int!, after: String): PinConnection!
		following(first: Int!, after: String): UserConnection!
	}
	type Counts {
		followers: Int!
		following: Int!
		pins: Int!
	}
	type Board implements Node {
		id: ID!
		name: String!
		description: String
		owner: User!
		pins(first: Int!, after: String): PinConnection!
	}
	type Pin implements Node {
		id: ID!
		details: String!
		link: String
		owner: User!
		board: Board!
		viewerLikes: Boolean
		likeCount: Int!
		likedBy(first: Int!, after: String): UserConnection!
	}
	type UserConnection {
		edges: [UserEdge!]!
		nodes: [User!]!
		pageInfo: PageInfo!
	}
	type UserEdge {
		cursor: String!
		node: User!
	}
	type BoardConnection {
		edges: [BoardEdge!]!
		nodes: [Board!]!
		pageInfo: PageInfo!
	}
	type BoardEdge {
		cursor: String!
		node: Board!
	}
	type PinConnection {
		edges: [PinEdge!]!
		nodes: [Pin!]!
		pageInfo: PageInfo!
	}
	type PinEdge {
		cursor: String!
		node: Pin!
	}
	input CreatePinInput {
		boardId: ID!
		details: String!
		link: String
	}
	input UpdatePinInput {
		pinId: ID!
		details: String!
	}
	input DeletePinInput {
		pinId: ID!
	}
	input LikePinInput {
		pinId: ID!
	}
	input UnlikePinInput {
		pinId: ID!
	}
	input FollowUserInput {
		userId: ID!
	}
	type PinPayload {
		pin: Pin
	}
	type DeletePinPayload {
		deletedPinId: ID
	}
	type FollowUserPayload {
		user: User
	}
	type Mutation {
		createPin(input: CreatePinInput!): PinPayload
		updatePin(input: UpdatePinInput!): PinPayload
		deletePin(input: DeletePinInput!): DeletePinPayload
		likePin(input: LikePinInput!): PinPayload
		unlikePin(input: UnlikePinInput!): PinPayload
		followUser(input: FollowUserInput!): FollowUserPayload
	}
`;
