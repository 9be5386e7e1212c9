import { createHash } from "node:crypto";
import { compact } from "corkboard";
import { DEMO_USERNAME } from "./people.ts";
import { DEMO_QUERY } from "./query.ts";

/** A document to try, with its variables. The name of its operation is the tab's title. */
export interface Example {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}

/** Pins that the demo user can see. The example mutation likes one of them. */
export const SOME_PINS = `{
  user(by: {username: "${DEMO_USERNAME}"}) {
    following(first: 10) {
      nodes { boards(first: 3) { nodes { pins(first: 3) { nodes { id viewerLikes } } } } }
    }
  }
}`;

const PAGING = `# Page forward through a list: run it, copy endCursor
# to "after" under Variables, and run it again.
query Paging($after: String) {
  user(by: {username: "${DEMO_USERNAME}"}) {
    followers(first: 5, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      edges {
        followedAt
        node { username name }
      }
    }
  }
}
`;

const LIKE = `# The pin is under Variables. Liking a pin twice is not
# an error. unlikePin removes the like.
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

const FEED = `# What the users you follow saved, and why each pin is here.
# Reading it from the start adds what is new.
query HomeFeed($after: String) {
  viewer {
    homeFeedWaiting
    homeFeed(first: 10, after: $after) {
      edges {
        node {
          title
          owner { name }
          homeFeedReason { source via { id } at }
        }
      }
      pageInfo { hasNextPage startCursor endCursor }
    }
  }
}
`;

/** A placeholder that the page replaces with its own origin. */
const ORIGIN = "http://localhost:4000";

const PERSISTED_TEXT = "query Persisted{interests(first:3){nodes{slug name}}}";

/** A persisted request, which GraphiQL cannot send, as shell commands. */
function persisted(): string {
	const extensions = {
		persistedQuery: {
			version: 1,
			sha256Hash: createHash("sha256").update(PERSISTED_TEXT).digest("hex"),
		},
	};
	const call = (body: object) =>
		`# curl -s ${ORIGIN}/graphql -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
	return `# The server keeps a document that was sent once: later
# requests name it by its SHA-256. Send the text first …
#
${call({ query: PERSISTED_TEXT, extensions })}
#
# … and then only the hash. On the error
# PERSISTED_QUERY_NOT_FOUND, send the text again.
# Apollo Client and urql do this by themselves.
#
${call({ extensions })}
#
# The response is the same as for:
query Persisted {
  interests(first: 3) {
    nodes { slug name }
  }
}
`;
}

/** GraphiQL's first tabs on the demo graph: a query, paging, the home feed, a mutation, a persisted request. */
export function demoExamples(pin: string | undefined): readonly Example[] {
	return compact([
		{ query: DEMO_QUERY },
		{ query: PAGING, variables: { after: null } },
		{ query: FEED, variables: { after: null } },
		pin !== undefined && { query: LIKE, variables: { input: { pinId: pin } } },
		{ query: persisted() },
	]);
}
