/** What the server tells GraphiQL's page, as JSON in the page. */
export interface PageConfig {
	readonly demo: {
		readonly token: string;
		readonly username: string;
		readonly examples: readonly PageExample[];
	} | null;
	/** The operator who signed in. */
	readonly operator: { readonly token: string } | null;
	/** Whether a run may be explained: without it there is no such view. */
	readonly explain: boolean;
}

/** A tab of a first visit. */
export interface PageExample {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}
