import type { GraphQLError } from "graphql";
import type { ExplainOutput } from "./explain/explainOutput.ts";

/** What one operation is answered with. The text of `data` is sent as it is: nothing parses or changes it. */
export interface Answer {
	/** The JSON text of the data, which may be `null`. Null if the request failed before execution (a request error, spec §7.1.2). */
	readonly data: string | null;
	readonly errors: readonly GraphQLError[];
	readonly extensions?: { readonly explain?: ExplainOutput };
}

/** An answer with its data parsed, for callers in this process. */
export type OperationResponse = (
	| {
			readonly data: Record<string, unknown> | null;
			readonly errors?: readonly GraphQLError[];
	  }
	| { readonly errors: readonly GraphQLError[]; readonly data?: never }
) &
	Pick<Answer, "extensions">;

export function parseAnswer({
	data,
	errors,
	...more
}: Answer): OperationResponse {
	if (data === null) return { errors, ...more };
	const parsed = { data: JSON.parse(data), ...more };
	return errors.length > 0 ? { errors, ...parsed } : parsed;
}
