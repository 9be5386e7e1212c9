import { createConnection } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Progress } from "../progress.ts";
import type { FeedFleet } from "./fleet.ts";
import type { Options } from "./options.ts";
import { fillPools, HOME_PAGE, lookersOf } from "./pages.ts";
import { type Measurement, percentile } from "./results.ts";

const READERS = 4;
const ROWS_A_STATEMENT = 5_000;

const TABLES = [
	"DROP DATABASE IF EXISTS relational",
	"CREATE DATABASE relational",
	"CREATE TABLE relational.users (id INT PRIMARY KEY, username VARCHAR(40) NOT NULL)",
	"CREATE TABLE relational.boards (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL)",
	"CREATE TABLE relational.pins (id INT PRIMARY KEY, owner_id INT NOT NULL, board_id INT NOT NULL, details VARCHAR(200) NOT NULL, KEY owner (owner_id, id))",
	"CREATE TABLE relational.follows (from_id INT NOT NULL, to_id INT NOT NULL, PRIMARY KEY (from_id, to_id))",
];

/** As an application without a feed does it. */
const NEWEST_OF_FOLLOWED = `SELECT p.id, p.details, u.username, b.name
	FROM relational.follows f
	JOIN relational.pins p ON p.owner_id = f.to_id
	JOIN relational.users u ON u.id = p.owner_id
	JOIN relational.boards b ON b.id = p.board_id
	WHERE f.from_id = ? ORDER BY p.id DESC LIMIT 20`;

/** Home pages, and the newest pins of the followed in one statement on the same server. Users look as often as they follow. */
export async function measureReaders(
	fleet: FeedFleet,
	options: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	const { graph } = fleet;
	const lookers = lookersOf(fleet, options.lookers);
	await loadTables(fleet);
	const measured: Measurement[] = [];
	const add = (name: string, values: Measurement["values"]) => {
		measured.push({ part: "read", name, values });
		progress.say(`${name}: ${Math.round(values["pages/s"] ?? 0)} pages/s`);
	};
	await fillPools(fleet, lookers);
	{
		await using corkboard = await openCorkboard(pinsApp, readConfig(fleet.env));
		const read = async (user: number) => {
			const { errors } = await corkboard.query(HOME_PAGE, {
				viewer: graph.users[user] as Id,
			});
			if (errors !== undefined) throw new Error(JSON.stringify(errors));
		};
		// Each looks once: from then on it is held.
		for (const user of lookers) await read(user);
		add("home feed", await readFor(options.seconds, lookers, () => read));
	}
	const connections = await Promise.all(
		Array.from({ length: READERS }, () =>
			createConnection({ uri: fleet.mysql.url }),
		),
	);
	try {
		const readBy = (reader: number) => async (user: number) => {
			await connections[reader]?.execute(NEWEST_OF_FOLLOWED, [user]);
		};
		for (const user of lookers) await readBy(0)(user);
		add(
			"one SQL statement over follows",
			await readFor(options.seconds, lookers, readBy),
		);
	} finally {
		for (const connection of connections) connection.destroy();
	}
	return measured;
}

async function readFor(
	seconds: number,
	lookers: readonly number[],
	readBy: (reader: number) => (user: number) => Promise<void>,
): Promise<Measurement["values"]> {
	const ms: number[] = [];
	const began = performance.now();
	const until = began + seconds * 1_000;
	let turn = 0;
	await Promise.all(
		Array.from({ length: READERS }, async (_, reader) => {
			const read = readBy(reader);
			while (performance.now() < until) {
				// Skewed to the first, who follow most.
				const part = ((turn++ * 0.618_033_988_75) % 1) ** 2;
				const at = performance.now();
				await read(lookers[Math.floor(part * lookers.length)] as number);
				ms.push(performance.now() - at);
			}
		}),
	);
	return {
		"pages/s": (ms.length / (performance.now() - began)) * 1_000,
		"p50 ms": percentile(ms, 0.5),
		"p99 ms": percentile(ms, 0.99),
	};
}

async function loadTables({ mysql, graph }: FeedFleet): Promise<void> {
	const connection = await createConnection({ uri: mysql.url });
	const insert = async (
		table: string,
		count: number,
		valuesOf: (at: number) => Iterable<string>,
	) => {
		let rows: string[] = [];
		const write = async () => {
			if (rows.length === 0) return;
			await connection.query(
				`INSERT INTO relational.${table} VALUES ${rows.join(",")}`,
			);
			rows = [];
		};
		for (let at = 0; at < count; at++) {
			rows.push(...valuesOf(at));
			if (rows.length >= ROWS_A_STATEMENT) await write();
		}
		await write();
	};
	try {
		for (const statement of TABLES) await connection.query(statement);
		const { users, owners, followed } = graph;
		await insert("users", users.length, (at) => [`(${at}, 'pinner ${at}')`]);
		await insert("boards", users.length, (at) => [`(${at}, 'board ${at}')`]);
		await insert("pins", owners.length, (at) => [
			`(${at}, ${owners[at]}, ${owners[at]}, 'what pin ${at} shows, in some words')`,
		]);
		await insert("follows", users.length, (at) =>
			[...new Set(followed[at])].map((to) => `(${at}, ${to})`),
		);
		await connection.query(
			"ANALYZE TABLE relational.pins, relational.follows, relational.users, relational.boards",
		);
	} finally {
		connection.destroy();
	}
}
