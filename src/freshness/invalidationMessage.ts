/**
 * A message of the invalidation channel. With keys it says what a process
 * changed; without, it is a heartbeat and has `sentAt`. `"all"` stands for more
 * keys than the process kept one by one.
 */
export interface InvalidationMessage extends MessageNumber {
	readonly keys: readonly string[] | "all";
	/** By the clock of `from`, which nobody else has. Milliseconds. */
	readonly sentAt?: number;
}

/**
 * Which message of which process it is, so that a lost one is noticed
 * (receivedNumbers.ts). `from` is the epoch: a random id, drawn at each start.
 * Its messages with keys are numbered from 1. Where Redis did not say whether it
 * took some, a new series begins, which repeats their keys: it continues the
 * numbers after `base`, the last one that Redis took.
 */
export interface MessageNumber {
	readonly from: string;
	readonly series: number;
	readonly base: number;
	/** Its own. Of a heartbeat: the last that Redis took before it. */
	readonly number: number;
}

const VERSION = 2;
/** UTF-16 units of one key. The longest of ours holds an e-mail address. */
export const MAX_KEY_LENGTH = 500;
export const MAX_KEYS_PER_MESSAGE = 100;
const MAX_LENGTH = 64 * 1024;
/** Of a message, without its keys. */
const MAX_FRAME_LENGTH = 300;

/** As few groups of keys as fit into messages. */
export function splitKeys(
	keys: readonly string[],
): readonly (readonly string[])[] {
	const groups: (readonly string[])[] = [];
	for (let at = 0; at < keys.length; at += MAX_KEYS_PER_MESSAGE) {
		groups.push(keys.slice(at, at + MAX_KEYS_PER_MESSAGE));
	}
	// JSON escapes can make six characters of one.
	return groups.every(
		(group) => JSON.stringify(group).length <= MAX_LENGTH - MAX_FRAME_LENGTH,
	)
		? groups
		: keys.map((key) => [key]);
}

/** `keys` are a group of `splitKeys`. */
export function encodeKeys(
	number: MessageNumber,
	keys: readonly string[] | "all",
): string {
	return encode({ ...number, keys });
}

export function encodeHeartbeat(number: MessageNumber, sentAt: number): string {
	return encode({ ...number, keys: [], sentAt });
}

/** Null for anything that is not exactly such a message. */
export function decodeMessage(text: string): InvalidationMessage | null {
	if (text.length > MAX_LENGTH) return null;
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		return null;
	}
	if (typeof parsed !== "object" || parsed === null) return null;
	const { v, from, series, base, number, sentAt, ...rest } = parsed as Record<
		string,
		unknown
	>;
	if (v !== VERSION || typeof from !== "string") return null;
	if (!isCount(series) || !isCount(base) || !isCount(number)) return null;
	const { keys: named, ...more } = rest;
	if (base > number || Object.keys(more).length > 0) return null;
	let keys: InvalidationMessage["keys"];
	if (named === "all") keys = named;
	else if (areKeys(named)) keys = named;
	else return null;
	const message = { from, series, base, number, keys };
	if (keys.length > 0) {
		return sentAt === undefined && number > base ? message : null;
	}
	return typeof sentAt === "number" ? { ...message, sentAt } : null;
}

function isCount(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

function areKeys(keys: unknown): keys is readonly string[] {
	return (
		Array.isArray(keys) &&
		keys.length <= MAX_KEYS_PER_MESSAGE &&
		keys.every((key) => typeof key === "string" && key.length <= MAX_KEY_LENGTH)
	);
}

function encode(message: InvalidationMessage): string {
	return JSON.stringify({ v: VERSION, ...message });
}
