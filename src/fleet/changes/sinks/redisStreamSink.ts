import { RedisConnection } from "../../../cache/redis/redisConnection.ts";
import { redisAddress } from "../../../cache/redis/redisUrl.ts";
import type { Change } from "../changeTypes.ts";
import type { Position } from "../position.ts";
import type { ChangeSink, SinkOptions } from "./changeSink.ts";
import { openPositionFile } from "./positionFile.ts";
import { repeated } from "./repeated.ts";

interface RedisStreamOptions extends SinkOptions {
	/** `redis://HOST:PORT`. */
	readonly url: string;
	/** The key of the stream. */
	readonly stream: string;
	/** About how many entries Redis keeps; null: all. */
	readonly maxLength: number | null;
	readonly positionFile: string;
	/** Before the second try. Milliseconds. */
	readonly firstPauseMs?: number;
}

/** Entries that are added together. */
const PER_CALL = 500;
/** All of them or, where Redis refuses the first, none. */
const ADD = `
for i = 2, #ARGV, 2 do
	if ARGV[1] == "0" then
		redis.call("XADD", KEYS[1], "*", "id", ARGV[i], "change", ARGV[i + 1])
	else
		redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[1], "*", "id", ARGV[i], "change", ARGV[i + 1])
	end
end
return redis.status_reply("OK")`;
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;

/** Adds changes to a stream of Redis, each an entry with the fields `id` and `change`. */
export async function openRedisStreamSink(
	options: RedisStreamOptions,
): Promise<ChangeSink> {
	const { stream, maxLength, positionFile, firstPauseMs } = options;
	const address = redisAddress(options.url);
	const file = await openPositionFile(positionFile);
	let connection: RedisConnection | null = null;
	const connected = async (): Promise<RedisConnection> => {
		if (connection !== null && !connection.isClosed) return connection;
		const made = new RedisConnection(address, () => {});
		connection = made;
		await late(made.runId, CONNECT_MS, made);
		return made;
	};
	const add = async (changes: readonly Change[]) => {
		const current = await connected();
		await late(
			current.client.eval(
				ADD,
				1,
				stream,
				String(maxLength ?? 0),
				...changes.flatMap((change) => [change.id, JSON.stringify(change)]),
			),
			ANSWER_MS,
			current,
		);
	};
	return {
		begun: file.kept?.position ?? null,
		async take(changes: readonly Change[], position: () => Position) {
			for (let at = 0; at < changes.length; at += PER_CALL) {
				await repeated(
					`Redis ${address.host}`,
					options,
					() => add(changes.slice(at, at + PER_CALL)),
					firstPauseMs,
				);
			}
			await file.write(position());
		},
		async [Symbol.asyncDispose]() {
			connection?.giveUp(new Error("closed"));
			file[Symbol.dispose]();
		},
	};
}

/** Rejects, and closes the connection if no answer comes in time: what was sent on it may still arrive. */
async function late<T>(
	answer: Promise<T>,
	ms: number,
	connection: RedisConnection,
): Promise<T> {
	const { promise, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(() => {
		const error = new Error(`no answer within ${ms} ms`);
		connection.giveUp(error);
		reject(error);
	}, ms);
	try {
		return await Promise.race([answer, promise]);
	} finally {
		clearTimeout(timer);
	}
}
