/** A message of an invalidation channel: what a process changed. `"all"` stands for more keys than it kept one by one. */
export interface InvalidationMessage {
	/** The `run_id` of the Redis that numbered it. */
	readonly run: string;
	/** The message before it on its channel has the number before. */
	readonly number: number;
	/** The process. */
	readonly from: string;
	readonly keys: readonly string[] | "all";
}

/** UTF-16 units of one key. The longest of ours holds an e-mail address. */
export const MAX_KEY_LENGTH = 500;
export const MAX_KEYS_PER_MESSAGE = 100;
const MAX_LENGTH = 64 * 1024;
/** The longest message without its keys. */
const MAX_FRAME_LENGTH = 300;

const NAME = "corkboard.changed.3";
/** In Redis, a hash: the number of the last message, by channel. */
export const NUMBERS_KEY = NAME;
/** For `channelOfName`. */
export const NAME_PREFIX = `${NAME}.`;

export function channelName(channel: number): string {
	return `${NAME_PREFIX}${channel}`;
}

export function channelOfName(name: string): number {
	return Number(name.slice(NAME_PREFIX.length));
}

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

/** As Redis puts it together (redisChannels.ts); `keys` are JSON. */
const MESSAGE = /^([0-9a-f]{40}) ([0-9]{1,16}) ([\w-]+) (.*)$/s;

/** Null for anything that is not exactly such a message. The keys of one that `me` sent are not read. */
export function decodeMessage(
	text: string,
	me?: string,
): InvalidationMessage | null {
	const fields = text.length > MAX_LENGTH ? null : MESSAGE.exec(text);
	if (fields === null) return null;
	const [, run = "", number, from = "", json = ""] = fields;
	if (from === me) return { run, number: Number(number), from, keys: [] };
	const keys = decodeKeys(parsed(json));
	return keys === null || keys.length === 0
		? null
		: { run, number: Number(number), from, keys };
}

/** Null if it is no JSON. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function decodeKeys(keys: unknown): InvalidationMessage["keys"] | null {
	if (keys === "all") return keys;
	const areKeys =
		Array.isArray(keys) &&
		keys.length <= MAX_KEYS_PER_MESSAGE &&
		keys.every(
			(key): key is string =>
				typeof key === "string" && key.length <= MAX_KEY_LENGTH,
		);
	return areKeys ? keys : null;
}
