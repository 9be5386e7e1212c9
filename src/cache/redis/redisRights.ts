import { randomUUID } from "node:crypto";
import { meaningOf } from "./redisErrors.ts";

/**
 * What Corkboard's user has to be allowed in a Redis with an ACL. `corkboard grants show
 * --redis` prints this list, `hosts check` compares with it, and a test signs in
 * with it. Nothing else says which keys and commands there are.
 */

/** By pattern, with what stands there. */
export const KEYS: readonly {
	readonly pattern: string;
	readonly of: string;
}[] = [
	{ pattern: "c2.*", of: "heads of lists" },
	{ pattern: "c1.document.*", of: "documents that clients registered" },
	{ pattern: "c1.usage.*", of: "counts of usage" },
	{ pattern: "b1.*", of: "budgets and rate limits" },
	{ pattern: "corkboard.changed.3", of: "numbers of invalidations" },
	{ pattern: "corkboard.jobs.leader.3", of: "who rotates queues" },
];

export const CHANNELS: readonly {
	readonly pattern: string;
	readonly of: string;
}[] = [
	{ pattern: "corkboard.changed.*", of: "invalidations" },
	{ pattern: "corkboard.jobs.*", of: "hints of jobs" },
];

export const COMMANDS: readonly string[] = [
	...["info", "ping", "select", "time", "eval"],
	...["get", "set", "mget", "del", "getrange", "pexpire"],
	...["hget", "hset", "hsetnx", "hmget", "hgetall", "hdel", "hlen"],
	...["hexists", "hincrby"],
	...["publish", "pubsub|numsub", "subscribe", "unsubscribe"],
];

/** The rules of the user, as ACL SETUSER takes them. */
export function aclRules(): readonly string[] {
	return [
		...["resetkeys", "resetchannels", "-@all"],
		...KEYS.map(({ pattern }) => `~${pattern}`),
		...CHANNELS.map(({ pattern }) => `&${pattern}`),
		...COMMANDS.map((command) => `+${command}`),
	];
}

/** What a Redis is asked to find out which of the rights are missing. */
interface Asking {
	call(command: string, args: string[]): Promise<unknown>;
}

/** Rules that a user lacks, each as it has to be added. Changes nothing but keys of its own, which end by themselves. */
export async function missingRules(redis: Asking): Promise<readonly string[]> {
	const missing: string[] = [];
	const refusal = async (command: string, ...args: readonly string[]) => {
		try {
			await redis.call(command, [...args]);
			return null;
		} catch (error) {
			if (meaningOf(error) === "forbidden") return (error as Error).message;
			throw error;
		}
	};
	const name = `check.${randomUUID()}`;
	for (const [command, args] of Object.entries(harmless(`c1.usage.${name}`))) {
		const [first = "", ...rest] = command.split("|");
		const refused = await refusal(first, ...rest, ...args);
		// Else it is the key or the channel, which comes below.
		if (refused?.includes(" command")) missing.push(`+${command}`);
	}
	// Each of these would be missing too, whether it is or not.
	if (missing.includes("+eval")) return missing;
	for (const { pattern } of KEYS) {
		const key = pattern.replace(/\*$/, name);
		const refused = await refusal("eval", "return 1", "1", key);
		if (refused !== null) missing.push(`~${pattern}`);
	}
	if (missing.includes("+publish")) return missing;
	for (const { pattern } of CHANNELS) {
		const channel = pattern.replace(/\*$/, name);
		const refused = await refusal("publish", channel, "");
		if (refused !== null) missing.push(`&${pattern}`);
	}
	return missing;
}

/** By command, arguments with which it does no harm; those that subscribe are left out, which a connection for commands may not send. */
function harmless(key: string): Readonly<Record<string, readonly string[]>> {
	return {
		info: ["server"],
		ping: [],
		time: [],
		eval: ["return 1", "0"],
		set: [key, "1", "PX", "1000"],
		get: [key],
		mget: [key],
		getrange: [key, "0", "0"],
		pexpire: [key, "1000"],
		del: [key],
		hset: [key, "a", "1"],
		hsetnx: [key, "a", "1"],
		hget: [key, "a"],
		hmget: [key, "a"],
		hgetall: [key],
		hlen: [key],
		hexists: [key, "a"],
		hincrby: [key, "a", "1"],
		hdel: [key, "a"],
		publish: [key, ""],
		"pubsub|numsub": ["a"],
	};
}
