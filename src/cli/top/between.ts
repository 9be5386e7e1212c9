import type { Sample, Scrape } from "./scrape.ts";

type Labels = Readonly<Record<string, string>>;

/** What happened between two scrapes, and how it is at the second. Null: the server does not say. */
export class Between {
	readonly seconds: number;
	readonly #after: Scrape;
	/** Values of the earlier scrape by name and labels. */
	readonly #earlier = new Map<string, number>();

	constructor(before: Scrape, after: Scrape) {
		this.#after = after;
		this.seconds = (after.at - before.at) / 1_000;
		for (const [name, samples] of before.samples) {
			for (const sample of samples) {
				this.#earlier.set(keyOf(name, sample), sample.value);
			}
		}
	}

	/** The sum of a gauge over all series that have these labels. */
	now(name: string, labels: Labels = {}): number | null {
		return sumOf(this.#matching(name, labels));
	}

	/** How much the counters with these labels rose. One that fell was counted from 0 again. */
	rise(name: string, labels: Labels = {}): number | null {
		return sumOf(
			this.#matching(name, labels).map((sample) => ({
				labels: sample.labels,
				value: this.#riseOf(name, sample),
			})),
		);
	}

	/** The same per second. */
	rate(name: string, labels: Labels = {}): number | null {
		const rise = this.rise(name, labels);
		return rise === null || this.seconds <= 0 ? null : rise / this.seconds;
	}

	/** The values of a label, in the order in which they are first met. */
	values(name: string, label: string, labels: Labels = {}): readonly string[] {
		return [
			...new Set(
				this.#matching(name, labels).flatMap((sample) => {
					const value = sample.labels[label];
					return value === undefined ? [] : [value];
				}),
			),
		];
	}

	/** The mean of what a histogram observed, in its unit; null if nothing was. */
	mean(name: string, labels: Labels = {}): number | null {
		const count = this.rise(`${name}_count`, labels);
		const sum = this.rise(`${name}_sum`, labels);
		return count === null || count === 0 || sum === null ? null : sum / count;
	}

	/** A quantile of what a histogram observed, as `histogram_quantile` estimates it; null if nothing was. */
	quantile(q: number, name: string, labels: Labels = {}): number | null {
		const buckets = new Map<number, number>();
		for (const sample of this.#matching(`${name}_bucket`, labels)) {
			const { le = "" } = sample.labels;
			const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
			const rise = this.#riseOf(`${name}_bucket`, sample);
			buckets.set(bound, (buckets.get(bound) ?? 0) + rise);
		}
		const sorted = [...buckets].toSorted(([a], [b]) => a - b);
		const all = sorted.at(-1)?.[1] ?? 0;
		if (all === 0) return null;
		let lower = 0;
		let below = 0;
		for (const [upper, count] of sorted) {
			if (count >= q * all) {
				// Beyond the last bound nothing is known.
				if (upper === Number.POSITIVE_INFINITY) return lower;
				const share = count === below ? 1 : (q * all - below) / (count - below);
				return lower + (upper - lower) * share;
			}
			lower = upper;
			below = count;
		}
		return lower;
	}

	#riseOf(name: string, sample: Sample): number {
		const earlier = this.#earlier.get(keyOf(name, sample)) ?? 0;
		return sample.value >= earlier ? sample.value - earlier : sample.value;
	}

	#matching(name: string, labels: Labels): readonly Sample[] {
		const wanted = Object.entries(labels);
		return (this.#after.samples.get(name) ?? []).filter((sample) =>
			wanted.every(([label, value]) => sample.labels[label] === value),
		);
	}
}

function sumOf(samples: readonly Sample[]): number | null {
	return samples.length === 0
		? null
		: samples.reduce((sum, { value }) => sum + value, 0);
}

function keyOf(name: string, { labels }: Sample): string {
	return JSON.stringify([name, Object.entries(labels).toSorted()]);
}
