/** Parts that apps name with their own types and mappings: `import { comments } from "corkboard/parts"`. */
export { type CommentsOptions, comments } from "./parts/comments.ts";
export { type FeedOptions, feed } from "./parts/feed.ts";
