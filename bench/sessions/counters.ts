import { type Scrape, scrape } from "../../src/cli/top/scrape.ts";

/** What a request of Corkboard did, by its own metrics. */
export type Counted = Readonly<Record<string, number>>;

type Labels = Readonly<Record<string, string>>;

const COUNTERS: readonly (readonly [
	title: string,
	metric: string,
	labels: Labels,
])[] = [
	...["objects", "heads", "answers"].flatMap((cache) =>
		["hits", "misses"].map(
			(what) =>
				[
					`${cache} ${what}`,
					`corkboard_local_cache_${what}_total`,
					{ cache },
				] as const,
		),
	),
	...["memcached", "redis"].flatMap((layer) => [
		[`${layer} calls`, "corkboard_cache_calls_total", { layer }] as const,
		[`${layer} keys`, "corkboard_cache_keys_total", { layer }] as const,
		...["hit", "miss", "busy"].map(
			(result) =>
				[
					`${layer} ${result}`,
					"corkboard_cache_reads_total",
					{ layer, result },
				] as const,
		),
	]),
	["statements", "corkboard_database_statements_total", {}],
	["rows", "corkboard_database_rows_total", {}],
];

export async function countersOf(admin: string | null): Promise<Counted> {
	if (admin === null) return {};
	const { samples } = await scrape(admin);
	return Object.fromEntries([
		...COUNTERS.map(([title, metric, labels]) => [
			title,
			sumOf(samples, metric, labels),
		]),
		...(samples.get("corkboard_storage_keys_total") ?? []).map(
			({ labels, value }) => [`storage ${labels.verb}`, value],
		),
	]);
}

/** The counts for each of so many requests. */
export function perRequest(
	before: Counted,
	after: Counted,
	requests: number,
): Counted {
	return Object.fromEntries(
		Object.entries(after).map(([title, value]) => [
			title,
			(value - (before[title] ?? 0)) / Math.max(1, requests),
		]),
	);
}

function sumOf(
	samples: Scrape["samples"],
	metric: string,
	wanted: Labels,
): number {
	return (samples.get(metric) ?? [])
		.filter(({ labels }) =>
			Object.entries(wanted).every(([name, value]) => labels[name] === value),
		)
		.reduce((sum, { value }) => sum + value, 0);
}
