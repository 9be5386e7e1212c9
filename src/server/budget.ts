import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import { HeaderMap } from "@apollo/server";
import type { FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import type { Id } from "../id/ids.ts";
import { type Bucket, type Filling, take } from "../util/bucket.ts";
import { Lru } from "../util/lru.ts";

/** How much one viewer, or one address, may have read. */
export interface Budget {
	/** Takes an operation's price before it runs; answers TOO_EXPENSIVE with `Retry-After` when there is not enough. */
	charge(spender: string, price: number): Promise<GraphQLError | null>;
	/** Gives back what was not used. Nobody waits for it. */
	refund(spender: string, points: number): void;
}

/** Buckets of other processes; null from one that does not answer in time. */
export interface Shared {
	take(name: string, points: number): Promise<number | null>;
}

/** Spenders that are counted in a process at once. One that is forgotten begins anew. */
const MAX_SPENDERS = 50_000;

/**
 * A bucket for each spender, shared between processes where there is a Redis.
 * While that does not answer (50 ms, then a breaker keeps it from being asked),
 * each process counts for itself: nobody is refused for Redis' sake, and nobody
 * has more than a budget a process.
 */
export function createBudget(
	filling: Filling,
	shared: Shared | null,
	now: () => number = () => performance.now(),
): Budget {
	const own = new Lru<Bucket>({
		maxWeight: MAX_SPENDERS,
		weigh: () => 1,
	});

	async function spend(spender: string, points: number): Promise<number> {
		const name = createHash("sha256").update(spender).digest("base64url");
		const told = await shared?.take(name, points);
		if (told !== undefined && told !== null) return told;
		const taken = take(filling, own.get(name), points, now());
		if ("waitMs" in taken) return taken.waitMs;
		own.set(name, taken.bucket);
		return 0;
	}

	return {
		async charge(spender, price) {
			const waitMs = await spend(spender, leastOf(price));
			return waitMs > 0 ? exhausted(filling, price, waitMs) : null;
		},
		refund(spender, points) {
			// The link to Redis answers null for what fails; the rest is arithmetic.
			if (points > 0) void spend(spender, -points);
		},
	};
}

/** Also an operation that reads nothing is work. */
export function leastOf(price: number): number {
	return Math.max(1, price);
}

/** Who pays: the viewer, or the address of one who is not known; of IPv6 the /64 that one customer has. */
export function spenderOf(viewer: Id | null, request: FastifyRequest): string {
	if (viewer !== null) return `viewer ${viewer}`;
	const { ip } = request;
	return isIPv6(ip) && !ip.includes(".")
		? `address ${networkOf(ip)}`
		: `address ${ip}`;
}

function networkOf(ip: string): string {
	const [head = "", tail] = (ip.split("%")[0] as string).split("::");
	const groups = head === "" ? [] : head.split(":");
	const last = tail === undefined || tail === "" ? [] : tail.split(":");
	const gap = tail === undefined ? 0 : 8 - groups.length - last.length;
	return [...groups, ...Array<string>(gap).fill("0"), ...last]
		.slice(0, 4)
		.map((group) => Number.parseInt(group, 16).toString(16))
		.join(":");
}

function exhausted(
	{ points, perMs }: Filling,
	price: number,
	waitMs: number,
): GraphQLError {
	const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
	return new GraphQLError(
		`Expected at most ${points} edges and objects to be read in ${perMs / 1_000} s but this operation, which may read ${price}, would be more. Ask again in ${seconds} s.`,
		{
			extensions: {
				code: "TOO_EXPENSIVE",
				http: {
					status: 429,
					headers: new HeaderMap([["retry-after", String(seconds)]]),
				},
			},
		},
	);
}
