import type { Metric, Registry } from "prom-client";
import type { MaybePromise } from "../util/maybePromise.ts";

/*
 * Metrics whose numbers are plain fields. prom-client checks and joins the
 * labels at each count, which takes longer than a small request may cost for
 * being counted; here a series is found once and then only added to.
 * prom-client prints them, and adds up those of several workers.
 */

/**
 * The most series of one metric. What is beyond shares one series, whose labels are all
 * `other`: so whatever labels come from, a scrape has an end.
 */
export const MAX_SERIES = 1_000;

/** How the values of several workers become one. */
type Aggregator = keyof typeof COMBINED;

const COMBINED = {
	sum: (a: number, b: number) => a + b,
	max: Math.max,
	min: Math.min,
};

/** What one series is now, with the values of its labels; null: it is not shown. */
type Level = readonly [value: number | null, ...labels: readonly string[]];

interface SeriesOptions<Label extends string> {
	/** In base units, with the suffixes of Prometheus: `_seconds`, `_bytes`, `_total`. */
	readonly name: string;
	readonly help: string;
	readonly labels?: readonly Label[];
	/** Default: `sum`. */
	readonly aggregator?: Aggregator;
	/** Default: `MAX_SERIES`. */
	readonly maxSeries?: number;
	/** Called before each scrape. May set and add. */
	readonly collect?: () => void;
	/** All that is there at a scrape: what is not among it is not shown. Levels of the same labels become one as those of several workers do. */
	readonly levels?: () => MaybePromise<readonly Level[]>;
}

type Labels = Readonly<Record<string, string>>;

interface Sample {
	readonly value: number;
	readonly labels: Labels;
	readonly metricName?: string;
}

/** The series of one metric, by the values of its labels. */
class Family<Cell extends { readonly labels: Labels }> {
	readonly #labels: readonly string[];
	readonly #maxSeries: number;
	readonly #open: (labels: Labels) => Cell;
	readonly #cells = new Map<string, Cell>();

	constructor(
		labels: readonly string[],
		maxSeries: number,
		open: (labels: Labels) => Cell,
	) {
		this.#maxSeries = maxSeries;
		this.#labels = labels;
		this.#open = open;
		if (labels.length === 0) this.#add("");
	}

	/** `key` is the label's value, or several joined by `\n`. */
	at(key: string): Cell {
		return this.#cells.get(key) ?? this.#add(key);
	}

	known(key: string): Cell | undefined {
		return this.#cells.get(key);
	}

	#add(key: string): Cell {
		const isFull = this.#cells.size >= this.#maxSeries;
		const names = this.#labels;
		const values = isFull ? names.map(() => OTHER) : key.split("\n");
		const name = values.join("\n");
		let cell = this.#cells.get(name);
		if (cell === undefined) {
			cell = this.#open(
				Object.fromEntries(
					names.map((label, at) => [label, values[at] as string]),
				),
			);
			this.#cells.set(name, cell);
		}
		return cell;
	}

	remove(key: string): void {
		this.#cells.delete(key);
	}

	clear(): void {
		this.#cells.clear();
	}

	get cells(): Iterable<Cell> {
		return this.#cells.values();
	}
}

export const OTHER = "other";

/** One series of a counter or gauge. */
export interface Value {
	readonly labels: Labels;
	value: number;
}

/** A counter, which only rises, or a gauge. */
export class Values<Label extends string = never> {
	readonly #family: Family<Value>;

	constructor(
		registry: Registry,
		type: "counter" | "gauge",
		{
			name,
			help,
			labels = [],
			aggregator = "sum",
			maxSeries = MAX_SERIES,
			collect,
			levels,
		}: SeriesOptions<Label>,
	) {
		this.#family = new Family(labels, maxSeries, (own) => ({
			labels: own,
			value: 0,
		}));
		register(registry, { name, help, type, aggregator }, async () => {
			collect?.();
			if (levels !== undefined) {
				const found = await levels();
				this.#family.clear();
				for (const [value, ...of] of found) {
					if (value === null) continue;
					const key = join(of);
					const known = this.#family.known(key)?.value;
					this.#family.at(key).value =
						known === undefined ? value : COMBINED[aggregator](known, value);
				}
			}
			return [...this.#family.cells];
		});
	}

	/** The series of these label values, in the order of the labels. Keep it where it is used often. */
	at(...values: readonly string[]): Value {
		return this.#family.at(join(values));
	}

	add(by: number, ...values: readonly string[]): void {
		this.at(...values).value += by;
	}

	set(value: number, ...values: readonly string[]): void {
		this.at(...values).value = value;
	}

	/** The series of these label values is not shown any more. */
	remove(...values: readonly string[]): void {
		this.#family.remove(join(values));
	}
}

/** One series of a histogram. */
export class Distribution {
	readonly labels: Labels;
	readonly #bounds: readonly number[];
	/** By bucket; the last one has no bound. */
	readonly #counts: number[];
	#sum = 0;

	constructor(labels: Labels, bounds: readonly number[]) {
		this.labels = labels;
		this.#bounds = bounds;
		this.#counts = new Array<number>(bounds.length + 1).fill(0);
	}

	observe(value: number): void {
		const bounds = this.#bounds;
		let at = 0;
		while (at < bounds.length && value > (bounds[at] as number)) at++;
		(this.#counts[at] as number)++;
		this.#sum += value;
	}

	/** As Prometheus wants them: each bucket with all below it. */
	*samples(name: string): Iterable<Sample> {
		let count = 0;
		for (const [at, own] of this.#counts.entries()) {
			count += own;
			const le = String(this.#bounds[at] ?? "+Inf");
			yield {
				metricName: `${name}_bucket`,
				labels: { le, ...this.labels },
				value: count,
			};
		}
		const { labels } = this;
		yield { metricName: `${name}_sum`, labels, value: this.#sum };
		yield { metricName: `${name}_count`, labels, value: count };
	}
}

export class Distributions<Label extends string = never> {
	readonly #family: Family<Distribution>;

	constructor(
		registry: Registry,
		/** Upper bounds, ascending. */
		bounds: readonly number[],
		{ name, help, labels = [] }: SeriesOptions<Label>,
	) {
		this.#family = new Family(
			labels,
			MAX_SERIES,
			(own) => new Distribution(own, bounds),
		);
		const described = { name, help, type: "histogram", aggregator: "sum" };
		register(registry, described, async () =>
			[...this.#family.cells].flatMap((one) => [...one.samples(name)]),
		);
	}

	at(...values: readonly string[]): Distribution {
		return this.#family.at(join(values));
	}
}

function join(values: readonly string[]): string {
	let key = values[0] ?? "";
	for (let at = 1; at < values.length; at++) key += `\n${values[at]}`;
	return key;
}

/** prom-client asks a metric for nothing but this. */
function register(
	registry: Registry,
	described: Readonly<Record<"name" | "help" | "type" | "aggregator", string>>,
	samples: () => Promise<readonly Sample[]>,
): void {
	const metric = {
		...described,
		get: async () => ({ ...described, values: await samples() }),
	};
	registry.registerMetric(metric as unknown as Metric);
}
