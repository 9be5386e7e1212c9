/** GraphQL requests that this process answered, by the way they took. */
export interface Ways {
	/** Known documents, past Fastify and Apollo. */
	short: number;
	/** Requests that got a kept response. */
	reused: number;
	/** All others. */
	long: number;
}
