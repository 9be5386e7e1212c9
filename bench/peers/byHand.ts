/** node:http with one statement a request, by hand: what somebody who needs these four queries and nothing else would write. It parses no GraphQL. */
import { createServer } from "node:http";
import { createPool, type RowDataPacket } from "mysql2/promise";
import { CONNECTIONS, encodeCursor } from "./relational.ts";
import { databaseUrl, reportPort } from "./serving.ts";

type Row = readonly (string | number | null)[];

const pool = createPool({
	uri: databaseUrl(),
	connectionLimit: CONNECTIONS,
	rowsAsArray: true,
});

/** Prepared once by each connection. */
async function read(sql: string, id: number): Promise<readonly Row[]> {
	const [rows] = await pool.execute<RowDataPacket[]>(sql, [id]);
	return rows as unknown as readonly Row[];
}

/** Runs of rows with the same value in a column, without those where it is null. */
function groups(rows: readonly Row[], column: number): readonly Row[][] {
	const found: Row[][] = [];
	let last: Row[] = [];
	for (const row of rows) {
		if (row[column] === null) continue;
		if (last.length > 0 && last[0]?.[column] === row[column]) last.push(row);
		else {
			last = [row];
			found.push(last);
		}
	}
	return found;
}

const PIN =
	"SELECT p.details, p.link, u.username FROM pins p JOIN users u ON u.id = p.owner_id WHERE p.id = ?";
const BOARD =
	"SELECT b.name, u.username, p.id, p.seq, p.details, p.username FROM boards b JOIN users u ON u.id = b.owner_id LEFT JOIN LATERAL (SELECT pins.id, pins.seq, details, username FROM pins JOIN users ON users.id = pins.owner_id WHERE board_id = b.id ORDER BY pins.seq DESC, pins.id DESC LIMIT 26) p ON TRUE WHERE b.id = ? ORDER BY p.seq DESC, p.id DESC";
const PROFILE =
	"SELECT u.username, b.id, b.name, p.id, p.details, p.likes, l.username FROM users u LEFT JOIN LATERAL (SELECT id, name, seq FROM boards WHERE owner_id = u.id ORDER BY seq DESC, id DESC LIMIT 10) b ON TRUE LEFT JOIN LATERAL (SELECT id, details, seq, (SELECT COUNT(*) FROM likes WHERE pin_id = pins.id) AS likes FROM pins WHERE board_id = b.id ORDER BY seq DESC, id DESC LIMIT 10) p ON TRUE LEFT JOIN LATERAL (SELECT user_id, likes.seq, username FROM likes JOIN users ON users.id = user_id WHERE pin_id = p.id ORDER BY likes.seq DESC, user_id DESC LIMIT 3) l ON TRUE WHERE u.id = ? ORDER BY b.seq DESC, b.id DESC, p.seq DESC, p.id DESC, l.seq DESC, l.user_id DESC";
const FOLLOWEES =
	"SELECT f.followee_id, u.username, p.id, p.details, b.name FROM (SELECT followee_id, seq FROM follows WHERE follower_id = ? ORDER BY seq DESC, followee_id DESC LIMIT 10) f JOIN users u ON u.id = f.followee_id LEFT JOIN LATERAL (SELECT id, details, seq, board_id FROM pins WHERE owner_id = f.followee_id ORDER BY seq DESC, id DESC LIMIT 5) p ON TRUE LEFT JOIN boards b ON b.id = p.board_id ORDER BY f.seq DESC, f.followee_id DESC, p.seq DESC, p.id DESC";

/** By the names of the operations. */
const ANSWERS: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
	async Q1(id) {
		const [row] = await read(PIN, id);
		return {
			pin: row && {
				details: row[0],
				link: row[1],
				owner: { username: row[2] },
			},
		};
	},
	async Q2(id) {
		const rows = await read(BOARD, id);
		const [board] = rows;
		const all = rows.filter((row) => row[2] !== null);
		const edges = all.slice(0, 25).map((row) => ({
			cursor: encodeCursor({ id: row[2] as number, seq: row[3] as number }),
			node: {
				id: String(row[2]),
				details: row[4],
				owner: { username: row[5] },
			},
		}));
		return {
			board: board && {
				name: board[0],
				owner: { username: board[1] },
				pins: {
					edges,
					pageInfo: {
						hasNextPage: all.length > 25,
						endCursor: edges.at(-1)?.cursor ?? null,
					},
				},
			},
		};
	},
	async Q3(id) {
		const rows = await read(PROFILE, id);
		const pinsOf = (of: readonly Row[]) =>
			groups(of, 3).map((likes) => ({
				id: String(likes[0]?.[3]),
				details: likes[0]?.[4],
				likeCount: likes[0]?.[5],
				likedBy: {
					nodes: groups(likes, 6).map(([row]) => ({ username: row?.[6] })),
				},
			}));
		const boards = groups(rows, 1).map((of) => ({
			name: of[0]?.[2],
			pins: { nodes: pinsOf(of) },
		}));
		const [user] = rows;
		return { user: user && { username: user[0], boards: { nodes: boards } } };
	},
	async Q4(id) {
		const followees = groups(await read(FOLLOWEES, id), 0).map((of) => ({
			username: of[0]?.[1],
			pins: {
				nodes: groups(of, 2).map(([row]) => ({
					details: row?.[3],
					board: { name: row?.[4] },
					owner: { username: row?.[1] },
				})),
			},
		}));
		return { user: { following: { nodes: followees } } };
	},
};

const server = createServer((request, response) => {
	const parts: Buffer[] = [];
	request.on("data", (part: Buffer) => parts.push(part));
	request.on("end", async () => {
		let status = 200;
		let body: string;
		try {
			const { query, variables } = JSON.parse(Buffer.concat(parts).toString());
			const answer = ANSWERS[query.slice("query ".length, query.indexOf("("))];
			const data = await answer?.(Number(variables.id));
			body = JSON.stringify({ data });
		} catch (error) {
			status = 500;
			body = JSON.stringify({ errors: [{ message: String(error) }] });
		}
		response.writeHead(status, {
			"content-type": "application/json; charset=utf-8",
			"content-length": Buffer.byteLength(body),
		});
		response.end(body);
	});
});
server.listen(0, "127.0.0.1", () => reportPort(server.address()));
