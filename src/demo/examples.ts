import { createHash } from "node:crypto";
import { DEMO_USERNAME } from "./people.ts";
import { DEMO_QUERY } from "./query.ts";

/** A document to try, with variables for it. Its operation's name is its title. */
export interface Example {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}

/** A pin the demo user can see: liked by the example of a mutation. */
export const SOME_PINS = `{
  user(username: "${DEMO_USERNAME}") {
    following(first: 10) {
      nodes { boards(first: 3) { nodes { pins(first: 3) { nodes { id viewerLikes } } } } }
    }
  }
}`;

const WALK = `# A page at a time, forward. Run it, put endCursor
# into "after" under Variables, and run it again.
query PageWalk($after: String) {
  user(username: "${DEMO_USERNAME}") {
    followers(first: 5, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        at
        node { username name }
      }
    }
  }
}
`;

const LIKE = `# Which pin is said under Variables. Liking it twice
# is no error; unlikePin takes the like back.
mutation LikePin($input: LikePinInput!) {
  likePin(input: $input) {
    pin {
      details
      viewerLikes
      likedBy(first: 3) {
        totalCount
        nodes { name }
      }
    }
  }
}
`;

/** Where the page puts its own address. */
export const ORIGIN = "http://localhost:4000";

const PERSISTED_TEXT = "query Persisted{interests(first:3){nodes{slug name}}}";

/** What GraphiQL cannot send by itself, as commands for a shell. */
function persisted(): string {
	const extensions = {
		persistedQuery: {
			version: 1,
			sha256Hash: createHash("sha256").update(PERSISTED_TEXT).digest("hex"),
		},
	};
	const call = (body: object) =>
		`# curl -s ${ORIGIN}/graphql -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
	return `# A document that was sent once need not be sent again:
# its SHA-256 names it. In a terminal, once with its text …
#
${call({ query: PERSISTED_TEXT, extensions })}
#
# … and from then on without. Whoever is told
# PERSISTED_QUERY_NOT_FOUND sends the text again;
# Apollo Client and urql do all this by themselves.
#
${call({ extensions })}
#
# It answers what this does:
query Persisted {
  interests(first: 3) {
    nodes { slug name }
  }
}
`;
}

/** GraphiQL's first tabs on the demo graph: a query, a page walk, a mutation, a persisted call. */
export function demoExamples(pin: string | undefined): readonly Example[] {
	return [
		{ query: DEMO_QUERY },
		{ query: WALK, variables: { after: null } },
		...(pin === undefined
			? []
			: [{ query: LIKE, variables: { input: { pinId: pin } } }]),
		{ query: persisted() },
	];
}
