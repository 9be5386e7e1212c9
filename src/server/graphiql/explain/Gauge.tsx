import { formatNumber } from "../../../util/format.ts";
import { formatShort } from "./format.ts";

/** Half a circle of radius 40 around (50, 46). */
const ARC = "M10 46a40 40 0 0 1 80 0";

/** In percent of the arc: a cost above 0 is always visible. */
const MIN_SHOWN = 1.5;

/** The cost against the limit. */
export function Gauge({
	cost,
	limit,
}: {
	readonly cost: number;
	readonly limit: number;
}) {
	const part = limit === 0 ? 1 : cost / limit;
	const level = part > 1 ? "over" : part > 0.5 ? "high" : "low";
	const filled =
		cost === 0 ? 0 : Math.min(100, Math.max(MIN_SHOWN, part * 100));
	return (
		<div
			className={`gauge gauge-${level}`}
			role="img"
			aria-label={`cost ${formatNumber(cost)} of ${formatNumber(limit)}`}
		>
			<svg viewBox="0 0 100 52" aria-hidden="true">
				<path className="gauge-all" d={ARC} />
				<path
					className="gauge-part"
					d={ARC}
					pathLength={100}
					strokeDasharray={`${filled} 200`}
				/>
				<text x="50" y="44">
					{formatShort(cost)}
				</text>
			</svg>
			<span>cost of {formatNumber(limit)}</span>
		</div>
	);
}
