import type {
	ExplainCache,
	ExplainStep,
} from "../../../plan/explain/explainOutput.ts";
import type { CacheLayer } from "../../../trace.ts";
import { formatNumber } from "../../../util/format.ts";

/** In the order in which a read asks them. */
const LAYERS = ["request", "process", "memcached", "redis"] as const;

/** Where a read found its value: in a cache layer, or on the shards after all layers missed. */
type Source = CacheLayer | "shards";

/** Number of reads by source, without sources that answered none. */
function countBySource(
	cache: readonly ExplainCache[],
): readonly (readonly [Source, number])[] {
	const counts: [Source, number][] = [];
	let missed = 0;
	for (const layer of LAYERS) {
		const result = cache.find((one) => one.layer === layer);
		if (result === undefined) continue;
		missed = result.misses;
		if (result.hits > 0) counts.push([layer, result.hits]);
	}
	if (missed > 0) counts.push(["shards", missed]);
	return counts;
}

export function sumCaches(steps: readonly ExplainStep[]): ExplainCache[] {
	const sums = new Map<CacheLayer, { hits: number; misses: number }>();
	for (const { layer, hits, misses } of steps.flatMap(({ cache }) => cache)) {
		const sum = sums.get(layer) ?? { hits: 0, misses: 0 };
		sums.set(layer, { hits: sum.hits + hits, misses: sum.misses + misses });
	}
	return [...sums].map(([layer, sum]) => ({ layer, ...sum }));
}

export function CacheBar({
	cache,
}: {
	readonly cache: readonly ExplainCache[];
}) {
	const counts = countBySource(cache);
	if (counts.length === 0) return null;
	const label = `read from: ${counts.map((count) => count.join(" ")).join(", ")}`;
	return (
		<span className="cache-bar" role="img" aria-label={label} title={label}>
			{counts.map(([source, count]) => (
				<span
					key={source}
					className={`layer-${source}`}
					style={{ flexGrow: count }}
				/>
			))}
		</span>
	);
}

/** The meaning of the colors, with the number of reads from each source. */
export function CacheLegend({
	cache,
}: {
	readonly cache: readonly ExplainCache[];
}) {
	return (
		<ul className="cache-legend">
			{countBySource(cache).map(([source, count]) => (
				<li key={source}>
					<span className={`swatch layer-${source}`} />
					{source} <b>{formatNumber(count)}</b>
				</li>
			))}
		</ul>
	);
}
