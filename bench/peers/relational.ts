/** The SQL that Mercurius and Yoga share: batches of rows by id, of pages, and of counts, and single writes. */
import {
	createPool,
	type Pool,
	type ResultSetHeader,
	type RowDataPacket,
} from "mysql2/promise";

export const CONNECTIONS = 20;
/** From so many lists on, one statement with a window function is cheaper than a UNION of them. */
const WINDOW_FROM = 20;

export interface Row {
	readonly id: number;
	readonly seq: number;
	readonly [column: string]: unknown;
}

export interface Page {
	readonly rows: readonly Row[];
	readonly hasNextPage: boolean;
}

export interface PageKey {
	readonly id: number;
	readonly first: number;
	readonly after: string | undefined;
}

export type Table = "users" | "boards" | "pins";

/** Where the rows of a connection come from; `t` is the table with the order. */
interface PageSource {
	readonly from: string;
	readonly parent: string;
	readonly id: string;
	readonly columns: string;
}

const BOARD = "t.id, t.owner_id, t.name, t.description";
const PIN = "t.id, t.board_id, t.owner_id, t.details, t.link";
const USER = "u.id, u.username, u.bio";

const PAGES = {
	boardsOfUser: {
		from: "boards t",
		parent: "t.owner_id",
		id: "t.id",
		columns: BOARD,
	},
	pinsOfBoard: {
		from: "pins t",
		parent: "t.board_id",
		id: "t.id",
		columns: PIN,
	},
	pinsOfUser: {
		from: "pins t",
		parent: "t.owner_id",
		id: "t.id",
		columns: PIN,
	},
	following: {
		from: "follows t JOIN users u ON u.id = t.followee_id",
		parent: "t.follower_id",
		id: "t.followee_id",
		columns: USER,
	},
	likedBy: {
		from: "likes t JOIN users u ON u.id = t.user_id",
		parent: "t.pin_id",
		id: "t.user_id",
		columns: USER,
	},
} satisfies Record<string, PageSource>;

export type PageName = keyof typeof PAGES;

export interface NewPin {
	readonly board_id: number;
	readonly owner_id: number;
	readonly details: string;
	readonly link: string | null;
	readonly seq: number;
}

export interface Like {
	readonly pin_id: number;
	readonly user_id: number;
	readonly seq: number;
}

export interface Follow {
	readonly follower_id: number;
	readonly followee_id: number;
	readonly seq: number;
}

export interface UserCounts {
	readonly followers: number;
	readonly following: number;
	readonly pins: number;
}

export const NO_COUNTS: UserCounts = { followers: 0, following: 0, pins: 0 };

/** Columns with the numbers of what a user has; `u` is the table of users. */
const USER_COUNTS =
	"(SELECT COUNT(*) FROM follows WHERE followee_id = u.id) AS followers, (SELECT COUNT(*) FROM follows WHERE follower_id = u.id) AS following, (SELECT COUNT(*) FROM pins WHERE owner_id = u.id) AS pins";

export interface Relational {
	byIds(table: Table, ids: readonly number[]): Promise<(Row | null)[]>;
	pages(name: PageName, keys: readonly PageKey[]): Promise<Page[]>;
	likeCounts(pins: readonly number[]): Promise<number[]>;
	userCounts(users: readonly number[]): Promise<UserCounts[]>;
	/** Those of the pins that the user likes. */
	liked(user: number, pins: readonly number[]): Promise<ReadonlySet<number>>;
	/** Those of the users whom the user follows. */
	followed(
		user: number,
		users: readonly number[],
	): Promise<ReadonlySet<number>>;
	/** Answers the id. */
	insertPin(pin: NewPin): Promise<number>;
	setDetails(pin: number, details: string): Promise<void>;
	/** With its likes. */
	deletePin(pin: number): Promise<void>;
	like(like: Like): Promise<void>;
	unlike(like: Omit<Like, "seq">): Promise<void>;
	follow(follow: Follow): Promise<void>;
}

export function openRelational(url: string): Relational {
	const pool = createPool({ uri: url, connectionLimit: CONNECTIONS });
	return {
		byIds: (table, ids) => byIds(pool, table, ids),
		pages: (name, keys) => pages(pool, PAGES[name], keys),
		likeCounts: (pins) => likeCounts(pool, pins),
		userCounts: (users) => userCounts(pool, users),
		liked: (user, pins) =>
			idsOf(
				pool,
				"SELECT pin_id AS id FROM likes WHERE user_id = ? AND pin_id IN (?)",
				[user, [...new Set(pins)]],
			),
		followed: (user, users) =>
			idsOf(
				pool,
				"SELECT followee_id AS id FROM follows WHERE follower_id = ? AND followee_id IN (?)",
				[user, [...new Set(users)]],
			),
		insertPin: async (pin) =>
			(await write(pool, "INSERT INTO pins SET ?", [pin])).insertId,
		async setDetails(pin, details) {
			await write(pool, "UPDATE pins SET details = ? WHERE id = ?", [
				details,
				pin,
			]);
		},
		deletePin: (pin) => deletePin(pool, pin),
		async like(like) {
			await write(pool, "INSERT IGNORE INTO likes SET ?", [like]);
		},
		async unlike({ pin_id, user_id }) {
			await write(pool, "DELETE FROM likes WHERE pin_id = ? AND user_id = ?", [
				pin_id,
				user_id,
			]);
		},
		async follow(follow) {
			await write(pool, "INSERT IGNORE INTO follows SET ?", [follow]);
		},
	};
}

async function write(
	pool: Pool,
	sql: string,
	values: readonly unknown[],
): Promise<ResultSetHeader> {
	const [result] = await pool.query<ResultSetHeader>(sql, [...values]);
	return result;
}

async function idsOf(
	pool: Pool,
	sql: string,
	values: readonly unknown[],
): Promise<ReadonlySet<number>> {
	const rows = await query(pool, sql, values);
	return new Set(rows.map(({ id }) => id as number));
}

async function deletePin(pool: Pool, pin: number): Promise<void> {
	const connection = await pool.getConnection();
	try {
		await connection.beginTransaction();
		await connection.query("DELETE FROM likes WHERE pin_id = ?", [pin]);
		await connection.query("DELETE FROM pins WHERE id = ?", [pin]);
		await connection.commit();
	} catch (error) {
		await connection.rollback();
		throw error;
	} finally {
		connection.release();
	}
}

async function query(
	pool: Pool,
	sql: string,
	values: readonly unknown[],
): Promise<readonly RowDataPacket[]> {
	const [rows] = await pool.query<RowDataPacket[]>(sql, [...values]);
	return rows;
}

async function byIds(
	pool: Pool,
	table: Table,
	ids: readonly number[],
): Promise<(Row | null)[]> {
	const rows = await query(pool, `SELECT * FROM ${table} WHERE id IN (?)`, [
		[...new Set(ids)],
	]);
	const found = new Map(rows.map((row) => [row.id as number, row as Row]));
	return ids.map((id) => found.get(id) ?? null);
}

async function likeCounts(
	pool: Pool,
	pins: readonly number[],
): Promise<number[]> {
	const rows = await query(
		pool,
		"SELECT pin_id, COUNT(*) AS number FROM likes WHERE pin_id IN (?) GROUP BY pin_id",
		[[...new Set(pins)]],
	);
	const counts = new Map(rows.map((row) => [row.pin_id, row.number]));
	return pins.map((pin) => counts.get(pin) ?? 0);
}

async function userCounts(
	pool: Pool,
	users: readonly number[],
): Promise<UserCounts[]> {
	const rows = await query(
		pool,
		`SELECT u.id, ${USER_COUNTS} FROM users u WHERE u.id IN (?)`,
		[[...new Set(users)]],
	);
	const counts = new Map(
		rows.map((row) => [row.id, row as unknown as UserCounts]),
	);
	return users.map((user) => counts.get(user) ?? NO_COUNTS);
}

/** One statement for all lists with the same arguments. */
async function pages(
	pool: Pool,
	source: PageSource,
	keys: readonly PageKey[],
): Promise<Page[]> {
	const groups = Map.groupBy(keys, ({ first, after }) => `${first} ${after}`);
	const read = new Map<string, ReadonlyMap<number, readonly Row[]>>();
	await Promise.all(
		[...groups].map(async ([name, group]) => {
			const ids = [...new Set(group.map(({ id }) => id))];
			const { first, after } = group[0] as PageKey;
			const rows = await pageRows(pool, source, ids, first + 1, after);
			read.set(
				name,
				Map.groupBy(rows as Row[], (row) => row.parent as number),
			);
		}),
	);
	return keys.map(({ id, first, after }) => {
		const rows = read.get(`${first} ${after}`)?.get(id) ?? [];
		return { rows: rows.slice(0, first), hasNextPage: rows.length > first };
	});
}

function pageRows(
	pool: Pool,
	{ from, parent, id, columns }: PageSource,
	ids: readonly number[],
	limit: number,
	after: string | undefined,
): Promise<readonly RowDataPacket[]> {
	const select = `SELECT ${columns}, ${parent} AS parent, t.seq`;
	if (ids.length > WINDOW_FROM && after === undefined) {
		return query(
			pool,
			`SELECT * FROM (${select}, ROW_NUMBER() OVER (PARTITION BY ${parent} ORDER BY t.seq DESC, ${id} DESC) AS place FROM ${from} WHERE ${parent} IN (?)) AS ranked WHERE place <= ? ORDER BY parent, place`,
			[ids, limit],
		);
	}
	const position = after === undefined ? undefined : decodeCursor(after);
	const beyond =
		position === undefined
			? ""
			: ` AND (t.seq < ? OR (t.seq = ? AND ${id} < ?))`;
	const branch = `(${select} FROM ${from} WHERE ${parent} = ?${beyond} ORDER BY t.seq DESC, ${id} DESC LIMIT ?)`;
	return query(
		pool,
		ids.map(() => branch).join(" UNION ALL "),
		ids.flatMap((list) =>
			position === undefined
				? [list, limit]
				: [list, position.seq, position.seq, position.id, limit],
		),
	);
}

export function encodeCursor({ seq, id }: Row): string {
	return Buffer.from(`${seq}:${id}`).toString("base64url");
}

export function decodeCursor(cursor: string): { seq: number; id: number } {
	const text = Buffer.from(cursor, "base64url").toString();
	const [, seq, id] = /^(\d+):(\d+)$/.exec(text) ?? [];
	if (seq === undefined || id === undefined) throw new Error("Bad cursor.");
	return { seq: Number(seq), id: Number(id) };
}

/** The fields of every connection type. */
const connection = {
	nodes: ({ rows }: Page) => rows,
	edges: ({ rows }: Page) =>
		rows.map((row) => ({ cursor: encodeCursor(row), node: row })),
	pageInfo: ({ rows, hasNextPage }: Page) => {
		const last = rows.at(-1);
		return { hasNextPage, endCursor: last ? encodeCursor(last) : null };
	},
};

export const connectionResolvers = {
	UserConnection: connection,
	BoardConnection: connection,
	PinConnection: connection,
};
