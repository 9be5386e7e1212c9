/** What the server tells GraphiQL's page, as JSON in the page. */
export interface PageConfig {
	readonly demo: {
		readonly token: string;
		readonly username: string;
		readonly query: string;
	} | null;
}
