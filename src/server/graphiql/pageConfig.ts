/** What the server passes to GraphiQL's page, as JSON in the page. */
export interface PageConfig {
	readonly demo: {
		readonly token: string;
		readonly username: string;
		readonly examples: readonly PageExample[];
	} | null;
	/** The operator who signed in. */
	readonly operator: { readonly token: string } | null;
	/** Whether requests may be explained. If not, the page has no Explain view. */
	readonly explain: boolean;
}

/** A tab that is open on a first visit. */
export interface PageExample {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}
