/** What the server passes to GraphiQL's page, as JSON in the page. */
export interface PageConfig {
	readonly demo: {
		/** The first is the viewer of a first visit. */
		readonly users: readonly DemoUser[];
		readonly examples: readonly PageExample[];
	} | null;
	/** The operator who signed in. */
	readonly operator: { readonly token: string } | null;
	/** Whether requests may be explained. If not, the page has no Explain view. */
	readonly explain: boolean;
}

/** A user that one may be. */
export interface DemoUser {
	readonly token: string;
	readonly username: string;
}

/** A tab that is open on a first visit. */
export interface PageExample {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}
