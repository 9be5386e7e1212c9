/**
 * A message of the invalidation channel: a JSON object `{v, from, keys}`. `from`
 * is the process that changed the keys. Without keys it is a heartbeat, and has
 * `sentAt`. `"all"` stands for more keys than the process kept one by one.
 */
export interface InvalidationMessage {
	readonly from: string;
	readonly keys: readonly string[] | "all";
	/** By the clock of `from`, which nobody else has. Milliseconds. */
	readonly sentAt?: number;
}

const VERSION = 1;
/** UTF-16 units of one key. The longest of ours holds an e-mail address. */
const MAX_KEY_LENGTH = 500;
export const MAX_KEYS_PER_MESSAGE = 100;
const MAX_LENGTH = 64 * 1024;

/** As few messages as hold the keys; null if a key is too long to send. */
export function encodeMessages(
	from: string,
	keys: readonly string[],
): readonly string[] | null {
	if (keys.some((key) => key.length > MAX_KEY_LENGTH)) return null;
	const messages: string[] = [];
	for (let at = 0; at < keys.length; at += MAX_KEYS_PER_MESSAGE) {
		messages.push(
			encode({ from, keys: keys.slice(at, at + MAX_KEYS_PER_MESSAGE) }),
		);
	}
	// JSON escapes can make six characters of one.
	return messages.every((message) => message.length <= MAX_LENGTH)
		? messages
		: keys.flatMap((key) => encode({ from, keys: [key] }));
}

export function encodeHeartbeat(from: string, sentAt: number): string {
	return encode({ from, keys: [], sentAt });
}

export function encodeInvalidateAll(from: string): string {
	return encode({ from, keys: "all" });
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
	const { v, from, keys, ...rest } = parsed as Record<string, unknown>;
	if (v !== VERSION || typeof from !== "string") return null;
	if (keys !== "all" && !areKeys(keys)) return null;
	const { sentAt, ...more } = rest;
	if (Object.keys(more).length > 0) return null;
	if (keys.length > 0) return sentAt === undefined ? { from, keys } : null;
	return typeof sentAt === "number" ? { from, keys, sentAt } : null;
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
