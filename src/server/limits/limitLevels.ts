import { type BucketLimit, msUntilFull } from "../../util/tokenBucket.ts";

/** What a request left in a bucket. */
interface LimitLevel {
	readonly limit: BucketLimit;
	readonly level: number;
	/** Until there is enough for the request; 0 if there was. */
	readonly waitMs: number;
}

/** What one request left of each limit that it counts towards. The response says so. */
export class LimitLevels {
	requests: LimitLevel | null = null;
	budget: LimitLevel | null = null;

	/**
	 * Names and values in turn, by the IETF draft "RateLimit header fields for HTTP"
	 * (draft-ietf-httpapi-ratelimit-headers-10). A list may be on several lines.
	 */
	get headers(): readonly string[] {
		if (this.requests === null && this.budget === null) return NONE;
		return [
			...headersOf('"requests"', "", this.requests),
			...headersOf('"budget"', ';qu="cost"', this.budget),
		];
	}
}

const NONE: readonly string[] = [];

function headersOf(
	name: string,
	unit: string,
	left: LimitLevel | null,
): readonly string[] {
	if (left === null) return NONE;
	const { limit, level, waitMs } = left;
	const seconds = secondsUntilMore(left);
	return [
		"ratelimit-policy",
		`${name};q=${limit.points};w=${Math.ceil(limit.perMs / 1_000)}${unit}`,
		"ratelimit",
		`${name};r=${waitMs > 0 ? 0 : Math.floor(level)};t=${seconds}`,
	];
}

/** Until a refused request may come again, or else until the bucket is full. */
export function secondsUntilMore({ limit, level, waitMs }: LimitLevel): number {
	const ms = waitMs > 0 ? waitMs : Math.max(0, msUntilFull(limit, level));
	return Math.ceil(ms / 1_000);
}
