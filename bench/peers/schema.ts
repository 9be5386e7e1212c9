/** What Mercurius, Yoga and Apollo serve: the part of the graph that the queries of the benchmark read. */
export const typeDefs = /* GraphQL */ `
	type Query {
		user(id: ID!): User
		board(id: ID!): Board
		pin(id: ID!): Pin
	}
	type PageInfo {
		hasNextPage: Boolean!
		endCursor: String
	}
	type User {
		id: ID!
		username: String!
		bio: String
		boards(first: Int!, after: String): BoardConnection!
		pins(first: Int!, after: String): PinConnection!
		following(first: Int!, after: String): UserConnection!
	}
	type Board {
		id: ID!
		name: String!
		description: String
		owner: User!
		pins(first: Int!, after: String): PinConnection!
	}
	type Pin {
		id: ID!
		details: String!
		link: String
		owner: User!
		board: Board!
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
`;
