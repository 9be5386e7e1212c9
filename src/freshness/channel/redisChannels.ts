import { randomBytes, randomInt } from "node:crypto";
import type { CacheConnection } from "../../cache/cacheConnection.ts";
import type { CommandConnection } from "../../cache/redis/redisConnections.ts";
import {
	type InvalidationMessage,
	NAME_PREFIX,
	NUMBERS_KEY,
} from "./invalidationMessage.ts";

/** What is to be published on a channel. */
export interface Publication {
	readonly channel: number;
	readonly keys: InvalidationMessage["keys"];
}

/** The numbers of the last messages, by channel, as Redis had them. */
export interface Numbers {
	/** The server's `run_id`. */
	readonly run: string;
	/** When it was asked, by `performance.now()`. */
	readonly askedAt: number;
	readonly byChannel: ReadonlyMap<number, number>;
}

/** The commands of the invalidation channels that are at one Redis. */
export class RedisChannels {
	/** In messages, this process. */
	readonly me = randomBytes(9).toString("base64url");
	readonly #channels: readonly number[];
	readonly #commands: CacheConnection<CommandConnection>;

	constructor(
		channels: readonly number[],
		commands: CacheConnection<CommandConnection>,
	) {
		this.#channels = channels;
		this.#commands = commands;
	}

	/** Whether Redis took all of them. If not, it may have taken some. */
	async publish(messages: readonly Publication[]): Promise<boolean> {
		const given = messages.flatMap(({ channel, keys }) => [
			String(channel),
			JSON.stringify(keys),
		]);
		const taken = await this.#run("publish", messages.length, (run) => [
			PUBLISH,
			...[run, this.me, ...given],
		]);
		return taken !== null;
	}

	/** Null if Redis does not answer. */
	async ask(): Promise<Numbers | null> {
		let askedAt = 0;
		let run = "";
		const reply = await this.#run("ask", this.#channels.length, (runId) => {
			askedAt = performance.now();
			run = runId;
			return [ASK, ...this.#channels.map(String)];
		});
		if (!Array.isArray(reply)) return null;
		const byChannel = new Map(
			this.#channels.map((channel, nth) => [channel, Number(reply[nth])]),
		);
		return { run, askedAt, byChannel };
	}

	/** The script and its arguments are those of the moment at which it is sent. */
	#run(
		verb: "publish" | "ask",
		count: number,
		given: (runId: string) => readonly [script: string, ...string[]],
	): Promise<unknown> {
		return this.#commands.call(
			verb,
			count,
			({ client, sendNow, withRunId }) =>
				withRunId((runId) => {
					const [script, ...rest] = given(runId);
					const first = String(randomInt(2 ** 47));
					const reply = client.eval(script, 1, NUMBERS_KEY, first, ...rest);
					sendNow();
					return reply;
				}),
			// Nobody waits for what a question finds out.
			{ isProbe: verb === "ask" },
		);
	}
}

/**
 * A server that was demoted takes PUBLISH as before, though nobody else listens
 * there any more, and answers questions. So both scripts write first, which it
 * refuses. That write needs no memory, and after it a full server takes the
 * others of the script.
 */
const WRITE = "redis.call('HDEL', KEYS[1], '')";

/**
 * ARGV: where numbers begin that Redis does not have, or has lost, at random, so
 * that they do not continue by chance where others have been; the `run_id`; the
 * process; a channel and keys for each message.
 */
const PUBLISH = `${WRITE}
for at = 4, #ARGV, 2 do
	local channel, keys = ARGV[at], ARGV[at + 1]
	local number = redis.call('HINCRBY', KEYS[1], channel, 1)
	if number == 1 then
		number = ARGV[1]
		redis.call('HSET', KEYS[1], channel, number)
	end
	number = string.format('%.0f', number)
	redis.call('PUBLISH', '${NAME_PREFIX}' .. channel, ARGV[2] .. ' ' .. number .. ' ' .. ARGV[3] .. ' ' .. keys)
end
return 1`;

/** ARGV: as above, and the channels. */
const ASK = `${WRITE}
local numbers = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
for at = 1, #ARGV - 1 do
	if not numbers[at] then
		numbers[at] = ARGV[1]
		redis.call('HSET', KEYS[1], ARGV[at + 1], ARGV[1])
	end
end
return numbers`;
