/** GraphQL requests that this process answered, by the way they took. */
export interface Ways {
	/** Known documents, past Fastify and Apollo. */
	short: number;
	/** Of these, those answered with an answer that was kept. */
	reused: number;
	/** All others. */
	long: number;
}
