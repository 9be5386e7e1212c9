import { DEMO_USERNAME } from "./people.ts";

/** What GraphiQL opens with on the demo graph: a page of everything, from one person on. Lines are short: its editor is narrow. */
export const DEMO_QUERY = `# Who is this, and what does she collect?
query Welcome {
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
            likedBy(first: 2) {
              totalCount
              nodes { name }
            }
            comments(first: 2) {
              nodes { text }
            }
          }
        }
      }
    }
  }
}
`;
