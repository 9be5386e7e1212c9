import type { GraphQLSchema } from "graphql";
import type { Id } from "../../src/id/ids.ts";

/** Ids, keys and cursors of the graph for random operations. */
export interface GraphSamples {
	readonly schema: GraphQLSchema;
	/** Null is the anonymous viewer. */
	readonly viewers: readonly (Id | null)[];
	/** Ids by type, including hidden and deleted objects, which come first. New ids are added in front. */
	readonly ids: ReadonlyMap<string, Id[]>;
	/** Objects that each viewer may change, by type. */
	readonly owned: ReadonlyMap<Id, ReadonlyMap<string, readonly Id[]>>;
	readonly usernames: readonly string[];
	readonly slugs: readonly string[];
	/** Cursors of the responses so far. */
	readonly cursors: {
		/** `list` is a field and owner: `User.pins 123`. */
		of(list: string): readonly string[];
		/** Lists with known cursors. */
		readonly lists: readonly string[];
	};
}
