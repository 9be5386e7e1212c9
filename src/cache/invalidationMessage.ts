/**
 * A message of the invalidation channel: a JSON object `{v, from, keys}`. `from`
 * is the process that changed the keys. Without keys it is a heartbeat. `"all"`
 * stands for more keys than the process kept one by one.
 */
export interface InvalidationMessage {
	readonly from: string;
	readonly keys: readonly string[] | "all";
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

export function encodeHeartbeat(from: string): string {
	return encode({ from, keys: [] });
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
	const isValid =
		v === VERSION &&
		typeof from === "string" &&
		(keys === "all" || areKeys(keys)) &&
		Object.keys(rest).length === 0;
	return isValid ? { from, keys } : null;
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
