import type { CacheLayer } from "../../../diagnostics.ts";
import type {
	ExplainCache,
	ExplainStep,
} from "../../../plan/explainRecorder.ts";

export const LAYERS = ["request", "process", "memcached", "redis"] as const;

/** Who answered: a layer, or the shards, which are asked for what no layer had. */
export type Source = CacheLayer | "shards";

/** How much each answered, those that answered nothing left out. A layer is asked for what the one before it had not. */
export function sourcesOf(cache: readonly ExplainCache[]): [Source, number][] {
	const found: [Source, number][] = [];
	let missed = 0;
	for (const layer of LAYERS) {
		const told = cache.find((one) => one.layer === layer);
		if (told === undefined) continue;
		missed = told.misses;
		if (told.hits > 0) found.push([layer, told.hits]);
	}
	if (missed > 0) found.push(["shards", missed]);
	return found;
}

/** All steps' together; of a step that came with the one above it, the answers are told there. */
export function sumCaches(steps: readonly ExplainStep[]): ExplainCache[] {
	const sums = new Map<CacheLayer, { hits: number; misses: number }>();
	const add = (step: ExplainStep) => {
		for (const { layer, hits, misses } of step.cache) {
			const sum = sums.get(layer) ?? { hits: 0, misses: 0 };
			sums.set(layer, {
				hits: sum.hits + hits,
				misses: sum.misses + misses,
			});
		}
		step.steps.forEach(add);
	};
	steps.forEach(add);
	return [...sums].map(([layer, sum]) => ({ layer, ...sum }));
}

export function CacheBar({
	cache,
}: {
	readonly cache: readonly ExplainCache[];
}) {
	const parts = sourcesOf(cache);
	if (parts.length === 0) return null;
	const said = parts.map(([who, n]) => `${who} ${n}`).join(", ");
	return (
		<span
			className="cache-bar"
			role="img"
			aria-label={`answered by: ${said}`}
			title={`answered by: ${said}`}
		>
			{parts.map(([who, n]) => (
				<span key={who} className={`layer-${who}`} style={{ flexGrow: n }} />
			))}
		</span>
	);
}

/** What the colours mean, with how much each answered. */
export function CacheLegend({
	cache,
}: {
	readonly cache: readonly ExplainCache[];
}) {
	return (
		<ul className="cache-legend">
			{sourcesOf(cache).map(([who, n]) => (
				<li key={who}>
					<span className={`swatch layer-${who}`} />
					{who} <b>{n.toLocaleString("en")}</b>
				</li>
			))}
		</ul>
	);
}
