import { DEMO_USERNAME } from "./people.ts";

/** What GraphiQL opens with on the demo graph: a page of everything, from one person on. */
export const DEMO_QUERY = `# Who is this, what does she collect, and who looks at it?
{
  user(username: "${DEMO_USERNAME}") {
    name
    bio
    followers(first: 3) {
      totalCount
      nodes { name }
    }
    boards(first: 3) {
      nodes {
        name
        pins(first: 4) {
          totalCount
          nodes {
            details
            likedBy(first: 2) { totalCount nodes { name } }
            comments(first: 2) { nodes { text author { name } } }
          }
        }
      }
    }
  }
}
`;
