import type { CallOptions } from "../diagnostics.ts";
import type { Graph, Writes } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";

/** What every batch resolver is given beside its parents and arguments, made anew for each request. */
export interface RequestContext {
	/** The graph as the viewer sees it. */
	readonly graph: Graph;
	/** Changes to it, which never ask whether the viewer may: resolvers do. What they cause is told to the call's trace. */
	writes(call?: CallOptions): Writes;
	/** Who asks; null for an anonymous request. */
	readonly viewer: Id | null;
	/** A token that makes this user the viewer of the requests that carry it; null where somebody else signs them. */
	signToken(id: Id): Promise<string | null>;
	now(): Date;
}
