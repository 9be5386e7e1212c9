import { DEMO_USERNAME } from "./people.ts";

/** GraphiQL's first query on the demo graph. Lines are short because its editor is narrow. */
export const DEMO_QUERY = `# A user, her followers and what she collects
query Welcome {
  user(by: {username: "${DEMO_USERNAME}"}) {
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
