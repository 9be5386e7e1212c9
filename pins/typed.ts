import { forSchema } from "corkboard";
import type { Schema } from "../schema/types.d.ts";

export type { Schema };

/** What names something of the schema: a wrong name does not compile. */
export const {
	byIdOrKey,
	defineApp,
	edgeMutations,
	findVisible,
	listCount,
	lookupOf,
	mappingOf,
	newStoredJson,
	referenceOf,
	requireVisible,
	storedFields,
	storedValue,
	updatedStoredJson,
	viewerMembership,
} = forSchema<Schema>();
