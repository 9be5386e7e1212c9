import type { BoardPin, OpenPin, Page, Profile } from "./answers.ts";
import { PINS_PAGE } from "./documents.ts";
import { CHECKS, type Checked, type CheckName } from "./messages.ts";

/** Counts what was looked at in answers, and what was wrong. */
export class Checks {
	readonly #of: Record<CheckName, { of: number; wrong: number }>;
	#firstWrong: string | null = null;

	constructor() {
		this.#of = Object.fromEntries(
			Object.keys(CHECKS).map((name) => [name, { of: 0, wrong: 0 }]),
		) as Record<CheckName, { of: number; wrong: number }>;
	}

	get checked(): Checked {
		return this.#of;
	}

	get firstWrong(): string | null {
		return this.#firstWrong;
	}

	look(name: CheckName, isRight: boolean, what: () => string): void {
		const counts = this.#of[name];
		counts.of++;
		if (isRight) return;
		counts.wrong++;
		this.#firstWrong ??= `${CHECKS[name]}: ${what()}`;
	}
}

/** What one person wrote, and therefore has to see from then on. Nobody takes anything back, so no count falls. */
export class Expectations {
	/** By pin: the least number of likes. */
	readonly #likes = new Map<string, number>();
	/** By user: the least number of followers. */
	readonly #follows = new Map<string, number>();
	/** By board: newest first. */
	readonly #pins = new Map<string, string[]>();

	liked(pin: string, before: number): void {
		this.#likes.set(pin, before + 1);
	}

	followed(user: string, before: number): void {
		this.#follows.set(user, before + 1);
	}

	saved(board: string, pin: string): void {
		const own = this.#pins.get(board);
		if (own === undefined) this.#pins.set(board, [pin]);
		else own.unshift(pin);
	}

	seePins(pins: readonly BoardPin[], checks: Checks): void {
		for (const pin of pins) this.#seePin(pin, checks);
	}

	seeOpenPin(pin: OpenPin, checks: Checks): void {
		this.#seePin(pin, checks);
		this.#seeFollow(pin.owner.id, pin.owner.viewerFollows, checks);
	}

	seeProfile({ id, viewerFollows, followers }: Profile, checks: Checks): void {
		const least = this.#follows.get(id);
		if (least === undefined) return;
		this.#seeFollow(id, viewerFollows, checks);
		checks.look(
			"followerCount",
			followers >= least,
			() => `user ${id} has ${followers}, not ${least}`,
		);
	}

	/** The first page of a board. */
	seeBoard(board: string, { items }: Page<BoardPin>, checks: Checks): void {
		const own = this.#pins.get(board);
		if (own === undefined) return;
		const expected = own.slice(0, PINS_PAGE);
		const shown = items.slice(0, expected.length).map(({ id }) => id);
		checks.look(
			"ownPins",
			expected.every((id, n) => id === shown[n]),
			() => `board ${board} begins with ${shown}, not with ${expected}`,
		);
	}

	#seePin({ id, viewerLikes, likes }: BoardPin, checks: Checks): void {
		const least = this.#likes.get(id);
		if (least === undefined) return;
		checks.look("ownLike", viewerLikes, () => `pin ${id}`);
		checks.look(
			"likeCount",
			likes >= least,
			() => `pin ${id} has ${likes}, not ${least}`,
		);
	}

	#seeFollow(user: string, isFollowed: boolean, checks: Checks): void {
		if (this.#follows.has(user)) {
			checks.look("ownFollow", isFollowed, () => `user ${user}`);
		}
	}
}
