import type { Source } from "../../ops/migrate/sources/source.ts";
import type { Pace } from "../../util/pace.ts";

/** Replicas that are further behind make passes wait. Seconds. */
export const MAX_LAG_S = 10;

/** Makes passes wait while replicas of the old database are behind. */
export class LagWatch {
	readonly #source: Pick<Source, "lag" | "shownUrl">;
	readonly #pace: Pace;
	readonly #say: (text: string) => void;
	#isLate = false;
	#isLooking = false;

	constructor(
		source: Pick<Source, "lag" | "shownUrl">,
		pace: Pace,
		say: (text: string) => void,
	) {
		this.#source = source;
		this.#pace = pace;
		this.#say = say;
	}

	/** A source that does not say how far it is behind counts as not behind. Never rejects. */
	async look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		const seconds = (await this.#source.lag().catch(() => null)) ?? 0;
		this.#isLooking = false;
		const isLate = seconds > MAX_LAG_S;
		if (isLate === this.#isLate) return;
		this.#isLate = isLate;
		const name = `a replica of ${this.#source.shownUrl}`;
		this.#pace.setLate(this, isLate ? name : null);
		this.#say(
			isLate
				? `The pass waits: ${name} is ${Math.round(seconds)} s behind.`
				: "The replica has caught up: the pass continues.",
		);
	}
}
