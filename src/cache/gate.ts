/** Whether a server is the one that the other processes use. */
export interface Gate {
	mayRead(): boolean;
	/** Whether what it acknowledges counts. */
	isAgreed(): boolean;
	/** The same, after waiting for it at most so long. */
	untilAgreed(ms: number): Promise<boolean>;
	/** Part of the names of keys: servers that are agreed on again start empty. */
	readonly term: number;
}

/** Nobody else is there, or nobody compares. */
export const OPEN_GATE: Gate = {
	mayRead: () => true,
	isAgreed: () => true,
	untilAgreed: async () => true,
	term: 0,
};
