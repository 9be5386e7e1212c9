import { theModel } from "./model.ts";

/** All resolvers that the program has with `schema/`: the app's, those of its declared mutations, and `Query.node`. */
export const { resolvers } = theModel();
