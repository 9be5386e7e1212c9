import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { Graph } from "./generate.ts";

/** Import keys: a letter and the row's number in the relational schema. */
export const KEYS = { user: "u", board: "b", pin: "p" } as const;

/** Lines for `import`, parents first. */
export async function writeImportFile(
	graph: Graph,
	file: string,
): Promise<number> {
	return writeLines(file, importLines(graph));
}

/** One tab-separated file per table. `seq` is the order of the rows, which both stores page by. */
export async function writeTables(graph: Graph, folder: string): Promise<void> {
	const tables: Readonly<Record<string, Iterable<string>>> = {
		users: rows(graph.users, ({ username, bio }) => [username, bio]),
		boards: rows(graph.boards, ({ owner, name, description }) => [
			owner + 1,
			name,
			description,
		]),
		pins: rows(graph.pins, ({ board, details, link }) => [
			board + 1,
			(graph.boards[board]?.owner ?? 0) + 1,
			details,
			link,
		]),
		likes: edges(graph.likes, ({ pin, user }) => [pin + 1, user + 1]),
		follows: edges(graph.follows, ({ from, to }) => [from + 1, to + 1]),
	};
	for (const [table, lines] of Object.entries(tables)) {
		await writeLines(join(folder, `${table}.tsv`), lines);
	}
}

function* importLines(graph: Graph): Generator<string> {
	const key = (kind: keyof typeof KEYS, n: number) => `${KEYS[kind]}:${n + 1}`;
	for (const [n, { username, bio }] of graph.users.entries()) {
		const fields = { username, name: username, bio };
		yield JSON.stringify({ type: "User", key: key("user", n), fields });
	}
	for (const [n, { owner, name, description }] of graph.boards.entries()) {
		const fields = { owner: key("user", owner), name, description };
		yield JSON.stringify({ type: "Board", key: key("board", n), fields });
	}
	for (const [n, { board, details, link }] of graph.pins.entries()) {
		const fields = { board: key("board", board), details, link };
		yield JSON.stringify({ type: "Pin", key: key("pin", n), fields });
	}
	for (const { user, pin } of graph.likes) {
		const [from, to] = [key("user", user), key("pin", pin)];
		yield JSON.stringify({ edge: "likePin", from, to });
	}
	for (const follow of graph.follows) {
		const [from, to] = [key("user", follow.from), key("user", follow.to)];
		yield JSON.stringify({ edge: "followUser", from, to });
	}
}

function* rows<T>(
	items: readonly T[],
	columns: (item: T) => readonly (string | number)[],
): Generator<string> {
	for (const [n, item] of items.entries()) {
		yield [n + 1, ...columns(item), n + 1].map(escaped).join("\t");
	}
}

function* edges<T>(
	items: readonly T[],
	columns: (item: T) => readonly number[],
): Generator<string> {
	for (const [n, item] of items.entries()) {
		yield [...columns(item), n + 1].join("\t");
	}
}

function escaped(value: string | number): string {
	return String(value).replaceAll("\\", "\\\\").replaceAll("\t", " ");
}

async function writeLines(
	file: string,
	lines: Iterable<string>,
): Promise<number> {
	const stream = createWriteStream(file);
	let count = 0;
	let waiting = "";
	for (const line of lines) {
		count++;
		waiting += `${line}\n`;
		if (waiting.length < 1 << 18) continue;
		if (!stream.write(waiting)) await once(stream, "drain");
		waiting = "";
	}
	stream.end(waiting);
	await once(stream, "close");
	return count;
}
