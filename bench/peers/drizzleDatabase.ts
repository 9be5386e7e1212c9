/** The peers' tables on MySQL, as Drizzle reads and writes them. */
import {
	and,
	count,
	desc,
	eq,
	getTableColumns,
	inArray,
	lt,
	lte,
	or,
	sql,
} from "drizzle-orm";
import {
	bigint,
	type MySqlColumn,
	type MySqlTable,
	mysqlTable,
	primaryKey,
	text,
	unionAll,
	varchar,
} from "drizzle-orm/mysql-core";
import { drizzle } from "drizzle-orm/mysql2";
import { createPool } from "mysql2/promise";
import {
	CONNECTIONS,
	decodeCursor,
	NO_COUNTS,
	type PageKey,
	type PageName,
	type Relational,
	type Row,
} from "./relational.ts";
import { databaseUrl } from "./serving.ts";

const WINDOW_FROM = 20;
export const db = drizzle(
	createPool({ uri: databaseUrl(), connectionLimit: CONNECTIONS }),
);

export const number = (name: string) => bigint(name, { mode: "number" });
export const key = () => number("id").autoincrement().primaryKey();
const users = mysqlTable("users", {
	id: key(),
	username: varchar("username", { length: 100 }).notNull(),
	bio: text("bio"),
	seq: number("seq").notNull(),
});
const boards = mysqlTable("boards", {
	id: key(),
	owner_id: number("owner_id").notNull(),
	name: varchar("name", { length: 200 }).notNull(),
	description: text("description"),
	seq: number("seq").notNull(),
});
export const pins = mysqlTable("pins", {
	id: key(),
	board_id: number("board_id").notNull(),
	owner_id: number("owner_id").notNull(),
	details: text("details").notNull(),
	link: text("link"),
	seq: number("seq").notNull(),
});
export const likes = mysqlTable(
	"likes",
	{
		pin_id: number("pin_id").notNull(),
		user_id: number("user_id").notNull(),
		seq: number("seq").notNull(),
	},
	(table) => [primaryKey({ columns: [table.pin_id, table.user_id] })],
);
export const follows = mysqlTable(
	"follows",
	{
		follower_id: number("follower_id").notNull(),
		followee_id: number("followee_id").notNull(),
		seq: number("seq").notNull(),
	},
	(table) => [primaryKey({ columns: [table.follower_id, table.followee_id] })],
);

interface PageSource {
	readonly table: MySqlTable & { readonly seq: MySqlColumn };
	readonly parent: MySqlColumn;
	readonly id: MySqlColumn;
	readonly columns: Readonly<Record<string, MySqlColumn>>;
	/** Joined by `id` if the rows are edges. */
	readonly isEdge: boolean;
}

const { seq: _, ...user } = getTableColumns(users);
const PAGES: Readonly<Record<PageName, PageSource>> = {
	boardsOfUser: {
		table: boards,
		parent: boards.owner_id,
		id: boards.id,
		columns: getTableColumns(boards),
		isEdge: false,
	},
	pinsOfBoard: {
		table: pins,
		parent: pins.board_id,
		id: pins.id,
		columns: getTableColumns(pins),
		isEdge: false,
	},
	pinsOfUser: {
		table: pins,
		parent: pins.owner_id,
		id: pins.id,
		columns: getTableColumns(pins),
		isEdge: false,
	},
	following: {
		table: follows,
		parent: follows.follower_id,
		id: follows.followee_id,
		columns: user,
		isEdge: true,
	},
	likedBy: {
		table: likes,
		parent: likes.pin_id,
		id: likes.user_id,
		columns: user,
		isEdge: true,
	},
};
const TABLES = { users, boards, pins };

export const database: Relational = {
	async byIds(name, ids) {
		const table = TABLES[name];
		const rows = await db
			.select()
			.from(table)
			.where(inArray(table.id, [...ids]));
		const found = new Map(rows.map((row) => [row.id, row as Row]));
		return ids.map((id) => found.get(id) ?? null);
	},
	async likeCounts(ids) {
		const rows = await db
			.select({ pin: likes.pin_id, number: count() })
			.from(likes)
			.where(inArray(likes.pin_id, [...ids]))
			.groupBy(likes.pin_id);
		const counts = new Map(rows.map((row) => [row.pin, row.number]));
		return ids.map((id) => counts.get(id) ?? 0);
	},
	async userCounts(ids) {
		const rows = await db
			.select({
				id: users.id,
				followers: db.$count(follows, eq(follows.followee_id, users.id)),
				following: db.$count(follows, eq(follows.follower_id, users.id)),
				pins: db.$count(pins, eq(pins.owner_id, users.id)),
			})
			.from(users)
			.where(inArray(users.id, [...ids]));
		const counts = new Map(rows.map((row) => [row.id, row]));
		return ids.map((id) => counts.get(id) ?? NO_COUNTS);
	},
	async pages(name, keys) {
		const groups = Map.groupBy(keys, ({ first, after }) => `${first} ${after}`);
		const read = new Map<string, ReadonlyMap<number, readonly Row[]>>();
		await Promise.all(
			[...groups].map(async ([group, members]) => {
				const rows = await pageRows(PAGES[name], members);
				read.set(
					group,
					Map.groupBy(rows, (row) => row.parent as number),
				);
			}),
		);
		return keys.map(({ id, first, after }) => {
			const rows = read.get(`${first} ${after}`)?.get(id) ?? [];
			return { rows: rows.slice(0, first), hasNextPage: rows.length > first };
		});
	},
	async liked(user, ids) {
		const rows = await db
			.select({ id: likes.pin_id })
			.from(likes)
			.where(and(eq(likes.user_id, user), inArray(likes.pin_id, [...ids])));
		return new Set(rows.map(({ id }) => id));
	},
	async followed(user, ids) {
		const rows = await db
			.select({ id: follows.followee_id })
			.from(follows)
			.where(
				and(
					eq(follows.follower_id, user),
					inArray(follows.followee_id, [...ids]),
				),
			);
		return new Set(rows.map(({ id }) => id));
	},
	async insertPin(pin) {
		const [created] = await db.insert(pins).values(pin);
		return created.insertId;
	},
	async setDetails(pin, details) {
		await db.update(pins).set({ details }).where(eq(pins.id, pin));
	},
	deletePin: (pin) =>
		db.transaction(async (transaction) => {
			await transaction.delete(likes).where(eq(likes.pin_id, pin));
			await transaction.delete(pins).where(eq(pins.id, pin));
		}),
	async like(like) {
		await db.insert(likes).ignore().values(like);
	},
	async unlike({ pin_id, user_id }) {
		await db
			.delete(likes)
			.where(and(eq(likes.pin_id, pin_id), eq(likes.user_id, user_id)));
	},
	async follow(follow) {
		await db.insert(follows).ignore().values(follow);
	},
};

/** The pages of several lists with the same arguments. */
async function pageRows(
	{ table, parent, id, columns, isEdge }: PageSource,
	keys: readonly PageKey[],
): Promise<Row[]> {
	const { first, after } = keys[0] as PageKey;
	const position = after === undefined ? undefined : decodeCursor(after);
	const { seq } = table;
	const select = (more: Record<string, unknown>) => {
		const query = db
			.select({
				...columns,
				parent: sql`${parent}`.as("parent"),
				seq: sql`${seq}`.as("seq"),
				...more,
			} as unknown as Record<string, MySqlColumn>)
			.from(table);
		return isEdge ? query.innerJoin(users, eq(users.id, id)) : query;
	};
	if (keys.length > WINDOW_FROM && position === undefined) {
		const ranked = select({
			place:
				sql`ROW_NUMBER() OVER (PARTITION BY ${parent} ORDER BY ${seq} DESC, ${id} DESC)`.as(
					"place",
				),
		})
			.where(
				inArray(
					parent,
					keys.map((key) => key.id),
				),
			)
			.as("ranked");
		const place = sql`place`;
		const rows = await db
			.select()
			.from(ranked)
			.where(lte(place, first + 1))
			.orderBy(sql`parent`, place);
		return rows as unknown as Row[];
	}
	const beyond =
		position &&
		or(lt(seq, position.seq), and(eq(seq, position.seq), lt(id, position.id)));
	const branches = keys.map((key) =>
		select({})
			.where(and(eq(parent, key.id), beyond))
			.orderBy(desc(seq), desc(id))
			.limit(first + 1),
	);
	const [one, two, ...more] = branches;
	const rows =
		two === undefined
			? await one
			: await unionAll(one as never, two as never, ...(more as never[]));
	return rows as unknown as Row[];
}
