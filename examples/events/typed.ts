import { forSchema } from "corkboard";
import type { Schema } from "./schema/types.d.ts";

/** What names something of the schema: a wrong name does not compile. */
export const {
	lookupOf,
	mappingOf,
	newStoredJson,
	referenceOf,
	requireVisible,
	resolvers,
	storedValue,
	updatedStoredJson,
} = forSchema<Schema>();
