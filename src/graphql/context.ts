import type { FeedOfRequest } from "../feed/homeFeeds.ts";
import type { Graph, Writes } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { FieldPolicies } from "../model/validation.ts";
import type { Jobs } from "../queue/enqueue/jobs.ts";
import type { CallOptions } from "../trace.ts";

/** What every batch resolver gets beside its parents and arguments. Created for each request. */
export interface RequestContext {
	/** The graph as the viewer sees it. */
	readonly graph: Graph;
	/** Writes to the graph. They check no permissions: resolvers do. The trace of `call` records them. */
	writes(call?: CallOptions): Writes;
	/** What stored fields may hold. */
	readonly fields: FieldPolicies;
	/** To enqueue jobs; null if there are no queues. */
	readonly jobs?: Jobs | null;
	/** The home feeds; null if there are no pools. Its answers are never used again. */
	readonly feed?: FeedOfRequest | null;
	/** The user who sends the request; null for an anonymous request. */
	readonly viewer: Id | null;
	/** An access token whose viewer is this user; null if another issuer signs tokens. */
	signToken(id: Id): Promise<string | null>;
	now(): Date;
}
