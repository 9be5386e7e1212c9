import type { GraphQLSchema } from "graphql";
import type { Id } from "../../src/id/ids.ts";

/** What random operations may name of the graph they are for. */
export interface Surroundings {
	readonly schema: GraphQLSchema;
	/** Null is the anonymous viewer. */
	readonly viewers: readonly (Id | null)[];
	/** Real ids by type, the most interesting first; hidden and deleted objects are among them. New ones are put in front. */
	readonly ids: ReadonlyMap<string, Id[]>;
	/** What each viewer may change, by type. */
	readonly owned: ReadonlyMap<Id, ReadonlyMap<string, readonly Id[]>>;
	readonly usernames: readonly string[];
	readonly slugs: readonly string[];
	/** Cursors of answers so far. */
	readonly cursors: {
		/** Of one list: `User.pins 123`. */
		of(list: string): readonly string[];
		/** Lists that some are known of. */
		readonly lists: readonly string[];
	};
}
