import { type OpenResult, OUTCOMES, type Outcome } from "./messages.ts";

/** A response that comes later is as good as none. Milliseconds. */
const GOOD_MS = 1_000;

/** What became of the requests that were due in a time. */
export interface Summary {
	/** A second. */
	readonly offered: number;
	/** Answered without errors within a second, a second. */
	readonly good: number;
	/** Percentiles of what was answered, with or without errors. Milliseconds. */
	readonly p50: number;
	readonly p99: number;
	/** Half of the refusals, and 99 of a hundred, came after so many milliseconds. */
	readonly refusal50: number;
	readonly refusal99: number;
	readonly counts: Readonly<Record<Outcome, number>>;
	readonly firstError: string | null;
}

/** `from` and `to` are seconds since the beginning. */
export function summarize(
	results: readonly OpenResult[],
	from: number,
	to: number,
): Summary {
	const counts = Object.fromEntries(
		OUTCOMES.map((outcome) => [outcome, 0]),
	) as Record<Outcome, number>;
	const answered: number[] = [];
	const refused: number[] = [];
	let good = 0;
	let all = 0;
	for (const { at, ms, outcome } of results) {
		for (let n = 0; n < at.length; n++) {
			const due = at[n] as number;
			if (due < from || due >= to) continue;
			const what = OUTCOMES[outcome[n] as number] as Outcome;
			const took = ms[n] as number;
			counts[what]++;
			all++;
			if (what === "answered" || what === "errors") answered.push(took);
			if (what === "refused" || what === "refusedWithout") refused.push(took);
			if (what === "answered" && took <= GOOD_MS) good++;
		}
	}
	const seconds = to - from;
	return {
		offered: all / seconds,
		good: good / seconds,
		p50: quantile(answered, 0.5),
		p99: quantile(answered, 0.99),
		refusal50: quantile(refused, 0.5),
		refusal99: quantile(refused, 0.99),
		counts,
		firstError:
			results.find(({ firstError }) => firstError)?.firstError ?? null,
	};
}

/** Seconds after `from` until three seconds in a row are as good as `share` of what is offered; null: never. */
export function recovery(
	results: readonly OpenResult[],
	from: number,
	to: number,
	share: number,
): number | null {
	let run = 0;
	for (let second = from; second + 1 <= to; second++) {
		const { good, offered } = summarize(results, second, second + 1);
		run = good >= offered * share ? run + 1 : 0;
		if (run === 3) return second - 2 - from;
	}
	return null;
}

/** 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
	const sorted = Float64Array.from(values).sort();
	return (
		sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
	);
}

export function line(name: string, summary: Summary): string {
	const { offered, good, p50, p99, refusal50, refusal99, counts } = summary;
	const others = Object.entries(counts)
		.filter(([name, count]) => count > 0 && name !== "answered")
		.map(([name, count]) => `${name} ${count}`);
	return [
		name.padEnd(24),
		`offered ${offered.toFixed(0)}/s`.padEnd(16),
		`good ${good.toFixed(0)}/s`.padEnd(13),
		`p50 ${p50.toFixed(0)} p99 ${p99.toFixed(0)} ms`.padEnd(22),
		`refused after ${refusal50.toFixed(0)}, ${refusal99.toFixed(0)} ms`.padEnd(
			28,
		),
		others.join(", "),
	].join(" ");
}
