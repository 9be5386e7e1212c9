/**
 * Whether most keys of the next batch will be absent, by the batches before it.
 * A cache that was just emptied has nothing, one that is full has nearly
 * everything, and both stay so for many batches.
 */
export class MissForecast implements Forecast {
	/** Of recent keys, those that were absent. */
	#share = 0;

	/** How many keys of a batch were absent. */
	add(keys: number, missing: number): void {
		if (keys > 0) this.#share += (missing / keys - this.#share) * WEIGHT;
	}

	/** Whether to lease with the read, which saves a wait if keys are absent and costs the host more if they are not. */
	get isLikely(): boolean {
		return this.#share > LIKELY;
	}
}

/** Of the last batch: three of which all was absent make misses likely, and three of which nothing was unlikely. */
const WEIGHT = 0.25;
const LIKELY = 0.5;

export interface Forecast {
	add(keys: number, missing: number): void;
	readonly isLikely: boolean;
}
