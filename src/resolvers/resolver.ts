import type { RequestContext } from "../graphql/context.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";

/** What resolves one field of an object, for all parents of a level at once. */
export function resolver(
	field: BatchResolver<RequestContext>,
): BatchResolver<RequestContext> {
	return field;
}
