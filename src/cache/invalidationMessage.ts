/**
 * What goes over the invalidation channel: a JSON object `{v, from, keys}`.
 * `from` is the process that changed them; without keys it is a heartbeat.
 * `"all"` are more keys than it could tell. (Versions from before that ignore it.)
 */
export interface InvalidationMessage {
	readonly from: string;
	readonly keys: readonly string[] | "all";
}

const VERSION = 1;
/** UTF-16 units, of one key. The longest of ours holds an e-mail address. */
const MOST_KEY_LENGTH = 500;
export const MAX_KEYS_PER_MESSAGE = 100;
const MOST_LENGTH = 64 * 1024;

/** As few messages as will hold the keys; null if one is too long to be told. */
export function encodeMessages(
	from: string,
	keys: readonly string[],
): readonly string[] | null {
	if (keys.some((key) => key.length > MOST_KEY_LENGTH)) return null;
	const messages: string[] = [];
	for (let at = 0; at < keys.length; at += MAX_KEYS_PER_MESSAGE) {
		messages.push(
			print({ from, keys: keys.slice(at, at + MAX_KEYS_PER_MESSAGE) }),
		);
	}
	// Escapes can make six letters of one.
	return messages.every((message) => message.length <= MOST_LENGTH)
		? messages
		: keys.flatMap((key) => print({ from, keys: [key] }));
}

export function encodeHeartbeat(from: string): string {
	return print({ from, keys: [] });
}

export function encodeInvalidateAll(from: string): string {
	return print({ from, keys: "all" });
}

/** Null for anything that is not exactly such a message. */
export function decodeMessage(text: string): InvalidationMessage | null {
	if (text.length > MOST_LENGTH) return null;
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		return null;
	}
	if (typeof parsed !== "object" || parsed === null) return null;
	const { v, from, keys, ...rest } = parsed as Record<string, unknown>;
	const good =
		v === VERSION &&
		typeof from === "string" &&
		(keys === "all" || areKeys(keys)) &&
		Object.keys(rest).length === 0;
	return good ? { from, keys } : null;
}

function areKeys(keys: unknown): keys is readonly string[] {
	return (
		Array.isArray(keys) &&
		keys.length <= MAX_KEYS_PER_MESSAGE &&
		keys.every(
			(key) => typeof key === "string" && key.length <= MOST_KEY_LENGTH,
		)
	);
}

function print(message: InvalidationMessage): string {
	return JSON.stringify({ v: VERSION, ...message });
}
