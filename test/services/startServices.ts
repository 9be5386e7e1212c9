import { startMariadb } from "./mariadb.ts";
import { startMemcached } from "./memcached.ts";
import { startMysql } from "./mysql.ts";
import { startRedis } from "./redis.ts";
import type { Server } from "./server.ts";

const KINDS = ["mysql", "mariadb", "redis", "memcached"] as const;
type Kind = (typeof KINDS)[number];

/** How many servers of each kind; none of those left out. */
type Wanted = Partial<Readonly<Record<Kind, number>>>;

/** Servers of one's own: to stop, pause and restart. */
export type OwnServices = Readonly<Record<Kind, readonly Server[]>> &
	AsyncDisposable;

const START: Readonly<Record<Kind, () => Promise<Server>>> = {
	mysql: startMysql,
	mariadb: startMariadb,
	redis: startRedis,
	memcached: startMemcached,
};

/** Private servers, all started at once; none are left where one does not start. */
export async function startServices(wanted: Wanted): Promise<OwnServices> {
	await using stack = new AsyncDisposableStack();
	const starting = KINDS.map((kind) =>
		Promise.allSettled(
			Array.from({ length: wanted[kind] ?? 0 }, () => START[kind]()),
		),
	);
	const outcomes = await Promise.all(starting);
	const started = outcomes.map((list) =>
		list.flatMap((outcome) =>
			outcome.status === "fulfilled" ? [stack.use(outcome.value)] : [],
		),
	);
	for (const outcome of outcomes.flat()) {
		if (outcome.status === "rejected") throw outcome.reason;
	}
	const [mysql = [], mariadb = [], redis = [], memcached = []] = started;
	const owned = stack.move();
	return {
		mysql,
		mariadb,
		redis,
		memcached,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}
