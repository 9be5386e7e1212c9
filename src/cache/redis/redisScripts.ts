import type { RedisCommands } from "./redisConnection.ts";
import { meaningOf } from "./redisErrors.ts";

/**
 * ARGV: how long a lease lives, and its mark. Returns for each key what it holds, null
 * where it was absent and is leased now, and 0 if there is no memory for a lease.
 */
export const GET_OR_LEASE = `
local found = redis.call('MGET', unpack(KEYS))
for at, key in ipairs(KEYS) do
	if not found[at] then
		local taken = redis.pcall('SET', key, ARGV[2], 'PX', ARGV[1], 'NX')
		if not taken then
			found[at] = ''
		elseif taken.err then
			if not string.find(taken.err, 'OOM', 1, true) then return taken end
			found[at] = 0
		end
	end
end
return found`;

/** ARGV: the TTL, then for each key the mark that it must have, and the value; an empty value stands for one that is not cached. Returns how many keys had another mark. */
export const FILL = `
local refused = 0
for at, key in ipairs(KEYS) do
	local mark = ARGV[2 * at]
	if redis.call('GETRANGE', key, 0, #mark - 1) == mark then
		local value = ARGV[2 * at + 1]
		if value == '' then
			redis.call('DEL', key)
		else
			redis.call('SET', key, value, 'PX', ARGV[1])
		end
	else
		refused = refused + 1
	end
end
return refused`;

/** The reply of a script; null if the server has no memory for what it writes. */
export async function evaluate(
	client: RedisCommands,
	script: string,
	keys: readonly string[],
	values: readonly string[],
): Promise<unknown> {
	try {
		return await client.eval(script, keys.length, ...keys, ...values);
	} catch (error) {
		if (meaningOf(error) === "full") return null;
		throw error;
	}
}
