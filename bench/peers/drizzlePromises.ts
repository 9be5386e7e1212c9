/**
 * Apollo and Drizzle as in `drizzle.ts`, with what Corkboard promises of a new pin, a
 * like and a follow:
 *
 * - a list counts what is in it, and orders it as it was committed: `lists` has a row for each;
 * - both lists of a like or follow change, or neither does, and a repeated one changes nothing;
 * - after the write no cache has what was there before: keys are deleted in Redis
 *   after COMMIT. The outbox names them until then, for a process that dies between the two.
 *
 * It neither checks who may see what, nor has caches in other processes to inform.
 */
import { and, eq, inArray, max, or, sql } from "drizzle-orm";
import { mysqlTable, primaryKey, text, varchar } from "drizzle-orm/mysql-core";
import { Redis } from "ioredis";
import type { ResultSetHeader } from "mysql2/promise";
import { serveApollo } from "./apollo.ts";
import {
	database,
	db,
	follows,
	key,
	likes,
	number,
	pins,
} from "./drizzleDatabase.ts";

const TABLES = [
	"CREATE TABLE IF NOT EXISTS lists (kind VARCHAR(20) NOT NULL, owner BIGINT NOT NULL, count BIGINT NOT NULL, last_seq BIGINT NOT NULL, PRIMARY KEY (kind, owner))",
	"CREATE TABLE IF NOT EXISTS outbox (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, cache_keys TEXT NOT NULL)",
	...[
		["boardPins", "pins", "board_id"],
		["userPins", "pins", "owner_id"],
		["likers", "likes", "pin_id"],
		["likes", "likes", "user_id"],
		["following", "follows", "follower_id"],
		["followers", "follows", "followee_id"],
	].map(
		([kind, table, owner]) =>
			`INSERT IGNORE INTO lists SELECT '${kind}', ${owner}, COUNT(*), MAX(seq) FROM ${table} GROUP BY ${owner}`,
	),
];
const lists = mysqlTable(
	"lists",
	{
		kind: varchar("kind", { length: 20 }).notNull(),
		owner: number("owner").notNull(),
		count: number("count").notNull(),
		last_seq: number("last_seq").notNull(),
	},
	(table) => [primaryKey({ columns: [table.kind, table.owner] })],
);
const outbox = mysqlTable("outbox", {
	id: key(),
	cache_keys: text("cache_keys").notNull(),
});
const redis = new Redis(process.env.REDIS_URL ?? "");

type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0];

interface List {
	readonly kind: string;
	readonly owner: number;
}

const DEADLOCK = 1_213;
const TRIES = 5;
/** Entries of so long are deleted by one statement. */
const DELETED_AFTER_MS = 10;

/** Adds what `insert` inserts to both lists, as the last one in each. */
async function addTo(
	both: readonly [List, List],
	insert: (transaction: Transaction, seq: number) => Promise<ResultSetHeader>,
): Promise<ResultSetHeader> {
	for (let tries = 1; ; tries++) {
		try {
			return await addOnce(both, insert);
		} catch (error) {
			const { errno } = ((error as Error).cause ?? error) as { errno?: number };
			if (errno !== DEADLOCK || tries === TRIES) throw error;
		}
	}
}

async function addOnce(
	both: readonly [List, List],
	insert: (transaction: Transaction, seq: number) => Promise<ResultSetHeader>,
): Promise<ResultSetHeader> {
	const cached = both.map(({ kind, owner }) => `${kind}:${owner}`);
	const { done, entry } = await db.transaction(
		async (transaction) => {
			// Locks both lists, in one order in all transactions.
			await transaction
				.insert(lists)
				.values(both.map((list) => ({ ...list, count: 0, last_seq: 0 })))
				.onDuplicateKeyUpdate({ set: { last_seq: sql`last_seq` } });
			const [found] = await transaction
				.select({ last: max(lists.last_seq) })
				.from(lists)
				.where(or(...both.map(isList)));
			// Under both locks, so it is the order of the commits in each of them.
			const seq = Math.max(Number(found?.last ?? 0) + 1, Date.now() * 1_000);
			const done = await insert(transaction, seq);
			if (done.affectedRows === 0) return { done, entry: null };
			await transaction
				.update(lists)
				.set({ count: sql`count + 1`, last_seq: seq })
				.where(or(...both.map(isList)));
			const [entry] = await transaction
				.insert(outbox)
				.values({ cache_keys: JSON.stringify(cached) });
			return { done, entry: entry.insertId };
		},
		{ isolationLevel: "read committed" },
	);
	await redis.del(...cached);
	if (entry !== null) deleteEntry(entry);
	return done;
}

const delivered: number[] = [];

/** Together with those of the same moment. Nobody waits for it: a worker would delete the keys again. */
function deleteEntry(entry: number): void {
	if (delivered.push(entry) > 1) return;
	setTimeout(() => {
		const ids = delivered.splice(0);
		db.delete(outbox).where(inArray(outbox.id, ids)).catch(console.error);
	}, DELETED_AFTER_MS);
}

function isList({ kind, owner }: List) {
	return and(eq(lists.kind, kind), eq(lists.owner, owner));
}

for (const statement of TABLES) await db.execute(sql.raw(statement));
await serveApollo({
	...database,
	async insertPin(pin) {
		const { insertId } = await addTo(
			[
				{ kind: "boardPins", owner: pin.board_id },
				{ kind: "userPins", owner: pin.owner_id },
			],
			async (transaction, seq) =>
				(await transaction.insert(pins).values({ ...pin, seq }))[0],
		);
		return insertId;
	},
	async like(like) {
		await addTo(
			[
				{ kind: "likes", owner: like.user_id },
				{ kind: "likers", owner: like.pin_id },
			],
			async (transaction, seq) =>
				(
					await transaction
						.insert(likes)
						.ignore()
						.values({ ...like, seq })
				)[0],
		);
	},
	async follow(follow) {
		await addTo(
			[
				{ kind: "following", owner: follow.follower_id },
				{ kind: "followers", owner: follow.followee_id },
			],
			async (transaction, seq) =>
				(
					await transaction
						.insert(follows)
						.ignore()
						.values({ ...follow, seq })
				)[0],
		);
	},
});
