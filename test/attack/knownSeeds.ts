/**
 * Runs that broke promises of 9b40ba5, before its protocols were repaired. `npm
 * run attack -- --known` repeats all of them; a short one runs in `npm test`.
 */
export const KNOWN_SEEDS: readonly {
	readonly seed: number;
	readonly minutes: number;
	readonly servers: number;
	readonly clients: number;
	/** What readers saw. */
	readonly found: string;
}[] = [
	{
		seed: 21,
		minutes: 2,
		servers: 3,
		clients: 14,
		found:
			"a list of likes without the viewer's own like, a username twelve seconds old, payloads older than their mutations",
	},
	{
		seed: 22,
		minutes: 2,
		servers: 3,
		clients: 14,
		found:
			"a token accepted after its account was closed, what belongs to a user who blocks the viewer, an old name of a board",
	},
	{
		seed: 23,
		minutes: 2.5,
		servers: 3,
		clients: 14,
		found: "a username twelve seconds old",
	},
	{
		seed: 5,
		minutes: 1,
		servers: 3,
		clients: 14,
		found: "a username in a payload from before the rename",
	},
];
