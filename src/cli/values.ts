import { parseDuration, printDuration } from "../queue/settings.ts";
import { parseShardRanges } from "../topology/ranges.ts";
import { parseList } from "../util/parseList.ts";

/** What a text of the command line means: its name in the help, what is expected of it, and how it is read. */
export interface Kind<T> {
	/** In the help: `N`, `DURATION`. */
	readonly name: string;
	/** For messages: `a whole number from 1 to 100`. */
	readonly expected: string;
	/** All texts that it may be, for completion. */
	readonly values?: readonly string[];
	/** Undefined if the text is not valid. */
	read(text: string): T | undefined;
}

/** Anything but nothing. */
export function text(name: string): Kind<string> {
	return {
		name,
		expected: "a text that is not empty",
		read: (given) => (given === "" ? undefined : given),
	};
}

export function integer(least: number, most: number, name = "N"): Kind<number> {
	return {
		name,
		expected: `a whole number from ${least} to ${most}`,
		read(given) {
			const value = /^[0-9]{1,15}$/.test(given) ? Number(given) : Number.NaN;
			return value >= least && value <= most ? value : undefined;
		},
	};
}

/** Above `least`, up to `most`. */
export function decimal(
	least: number,
	most: number,
	name: string,
): Kind<number> {
	return {
		name,
		expected: `a number above ${least}, at most ${most}`,
		read(given) {
			const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
			return value > least && value <= most ? value : undefined;
		},
	};
}

/** In milliseconds. A duration has a unit. */
export function duration(
	least = 0,
	most = Number.POSITIVE_INFINITY,
): Kind<number> {
	const bounds =
		most === Number.POSITIVE_INFINITY
			? ""
			: ` from ${printDuration(least)} to ${printDuration(most)}`;
	return {
		name: "DURATION",
		expected: `a duration${bounds}, such as 500ms, 90s, 15m or 7d`,
		read(given) {
			const ms = parseDuration(given);
			return ms !== undefined && ms >= least && ms <= most ? ms : undefined;
		},
	};
}

export function oneOf<const T extends string>(
	name: string,
	values: readonly T[],
): Kind<T> {
	return {
		name,
		values,
		expected: values.join(", "),
		read: (given) => values.find((value) => value === given),
	};
}

/** `256-511`, or one shard. */
export const SHARDS: Kind<readonly [number, number]> = {
	name: "SHARDS",
	expected: "shards such as 256-511",
	read(given) {
		const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(given);
		const first = Number(match?.[1]);
		const last = Number(match?.[2] ?? match?.[1]);
		return match === null || first > last ? undefined : [first, last];
	},
};

/** `0-255,512`: the shards, lowest first. */
export const SHARD_RANGES: Kind<readonly number[]> = {
	name: "RANGES",
	expected: "shards and ranges of them, such as 0-255,512",
	read: (given) => parseShardRanges(given) ?? undefined,
};

/** Transactions of MySQL. */
export const GTIDS: Kind<string> = {
	name: "SET",
	expected:
		"a set of GTIDs such as 3e11fa47-71ca-11e1-9e33-c80aa9429562:4711-4720",
	read: (given) =>
		/^[\da-f-]{36}(?::[\w-]+)+(?:,\s*[\da-f-]{36}(?::[\w-]+)+)*$/i.test(given)
			? given
			: undefined,
};

/** A version of the topology. */
export function version(name = "VERSION"): Kind<number> {
	return {
		name,
		expected: "the number of a version",
		read: (given) => (/^[0-9]{1,15}$/.test(given) ? Number(given) : undefined),
	};
}

/** How many new users a shard gets beside one of weight 1. */
export function weight(name: string): Kind<number> {
	return decimal(0, 1_000, name);
}

/** Separated by commas. */
export function list(name: string): Kind<readonly string[]> {
	return mapped(text(name), parseList);
}

/** As SHARDS reads it. */
export function formatShards([first, last]: readonly [number, number]): string {
	return first === last ? `${first}` : `${first}-${last}`;
}

/** `5 h 10 min` */
export function formatSeconds(seconds: number): string {
	const all = Math.max(1, Math.ceil(seconds));
	if (all < 60) return `${all} s`;
	const minutes = Math.round(all / 60);
	return minutes < 60
		? `${minutes} min`
		: `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function mapped<A, B>(kind: Kind<A>, of: (value: A) => B): Kind<B> {
	return {
		...kind,
		read(given) {
			const value = kind.read(given);
			return value === undefined ? undefined : of(value);
		},
	};
}
/** The keys of an object whose values are not undefined, for optional properties. */
export function present<T extends object>(
	options: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
	return Object.fromEntries(
		Object.entries(options).filter(([, value]) => value !== undefined),
	) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
