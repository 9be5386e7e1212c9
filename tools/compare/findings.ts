/** What was compared, and what did not agree. */
export interface Summary extends Figures {
	readonly seed: number;
	/** All of them. */
	readonly mismatches: number;
	/** The first few, as sentences. */
	readonly spelled: readonly string[];
}

export interface Figures {
	requests: number;
	/** Drawn, and looked up by name. */
	users: number;
	/** Boards and pins whose own lists were compared. */
	boards: number;
	pins: number;
	/** With the totalCount of each. */
	lists: number;
	/** Items of lists, each with its owner, board and fields. */
	edges: number;
	/** Pages of lists, those of the walks included. */
	pages: number;
	origins: number;
	/** The best-connected user's followers, in pages one after another. */
	walked: {
		username: string;
		followers: number;
		pagesForward: number;
		pagesBackward: number;
	};
}

const SPELLED = 10;

export class Findings {
	readonly figures: Figures = {
		requests: 0,
		users: 0,
		boards: 0,
		pins: 0,
		lists: 0,
		edges: 0,
		pages: 0,
		origins: 0,
		walked: {
			username: "",
			followers: 0,
			pagesForward: 0,
			pagesBackward: 0,
		},
	};
	readonly #spelled: string[] = [];
	#mismatches = 0;

	mismatch(sentence: string): void {
		this.#mismatches++;
		if (this.#spelled.length < SPELLED) this.#spelled.push(sentence);
	}

	/** Whether they are the same. */
	same(what: string, expected: unknown, got: unknown): boolean {
		if (expected === got) return true;
		this.mismatch(
			`${what}: expected ${String(expected)} but got: ${String(got)}`,
		);
		return false;
	}

	summary(seed: number): Summary {
		return {
			...this.figures,
			seed,
			mismatches: this.#mismatches,
			spelled: this.#spelled,
		};
	}
}
