import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../test/helpers/temporaryFolder.ts";
import { startServices } from "../../test/services/startServices.ts";
import { topologyOf } from "../databases.ts";
import { answerOf } from "../load/answerOf.ts";
import { sendLoad } from "../load/sender.ts";
import {
	documentFile,
	QUERY_NAMES,
	type QueryName,
	textOf,
} from "../queries.ts";
import { spellRequest } from "../requests.ts";
import {
	type Counts,
	GUARDED_WRITES,
	type GuardMessage,
	type GuardRequest,
	WRITERS,
} from "./messages.ts";

const SERVER = join(import.meta.dirname, "server.ts");
/** As many as writers. */
const SHARDS = WRITERS;
const WARM_REQUESTS = 40;
const REQUESTS = 25;
const COLD_REQUESTS = 3;
const WINDOWS = 4;
/** So many are counted at most where some were disturbed. */
const MOST_WINDOWS = 24;
const ANSWER_LIMIT_MS = 180_000;
const LOAD_LIMIT_MS = 60_000;
/** Room for all that a window allocates: nothing is collected before its end. */
const YOUNG_MB = 128;

/** What one request takes. */
export interface RequestCounts {
	readonly statements: number;
	readonly cacheCommands: number;
	readonly cursors: number;
	readonly promises: number;
	/** Allocated, without the optimizing compilers. */
	readonly bytes: number;
}

/** What one write takes. */
export interface WriteCounts {
	readonly statements: number;
	readonly commits: number;
	readonly cacheCommands: number;
	readonly promises: number;
}

/** `likePin alone` is one after the other, `likePin together` with one on each of eight shards. */
export type WriteTable = Readonly<Record<string, WriteCounts>>;

/**
 * `q1 text` and `q1 known` are executed, `q1 again` is the same request over and
 * over; for `q1 shared` memcached and Redis have everything and the process
 * nothing, and for `q1 cold` no cache has anything.
 */
export type GuardTable = Readonly<Record<string, RequestCounts>>;

/** Counts what requests and writes take on MySQL, memcached and Redis of its own. */
export async function countRequests(): Promise<{
	readonly requests: GuardTable;
	readonly writes: WriteTable;
}> {
	await using services = await startServices({
		mysql: 1,
		memcached: 1,
		redis: 1,
	});
	using folder = temporaryFolder();
	const topology = join(folder.path, "topology.json");
	const documents = join(folder.path, "documents.json");
	const [mysql] = services.mysql;
	await writeFile(
		topology,
		JSON.stringify(topologyOf([mysql?.url ?? ""], SHARDS)),
	);
	await writeFile(
		documents,
		documentFile(QUERY_NAMES.map((name) => textOf("corkboard", name))),
	);
	await using server = new GuardedServer({
		CORKBOARD_TOPOLOGY: topology,
		CORKBOARD_SECRET: "of the guard on this machine alone 32 bytes or more",
		CORKBOARD_LOG: "fatal",
		CORKBOARD_DOCUMENTS: "report",
		CORKBOARD_DOCUMENT_FILES: documents,
		PORT: "0",
		HOST: "127.0.0.1",
		CORKBOARD_MEMCACHED: services.memcached[0]?.address ?? "",
		CORKBOARD_REDIS: services.redis[0]?.url ?? "",
	});
	const table: Record<string, RequestCounts> = {};
	await countCached(server, table);
	return { requests: table, writes: await countWrites(server) };
}

/** The least of several windows each, by write. */
async function countWrites(server: GuardedServer): Promise<WriteTable> {
	const table: Record<string, WriteCounts> = {};
	const windows = { alone: 2, together: 4 };
	for (const mutation of GUARDED_WRITES) {
		let turn = 0;
		for (const together of [false, true]) {
			const counted: Counts[] = [];
			const way = together ? "together" : "alone";
			// The first fills caches.
			for (let n = 0; n <= windows[way]; n++) {
				await server.ask({ kind: "start", promises: true }, "started");
				const write = { kind: "write", mutation, together } as const;
				await server.ask({ ...write, turn: turn++ }, "written");
				const { counts } = await server.ask({ kind: "stop" }, "counts");
				if (n > 0) counted.push(counts);
			}
			const least = (name: keyof WriteCounts) =>
				Math.min(...counted.map((counts) => counts[name])) / WRITERS;
			table[`${mutation} ${way}`] = {
				statements: least("statements"),
				commits: least("commits"),
				cacheCommands: least("cacheCommands"),
				promises: Math.round(least("promises")),
			};
		}
	}
	return table;
}

async function countCached(
	server: GuardedServer,
	table: Record<string, RequestCounts>,
): Promise<void> {
	const { port, ids } = await server.expect("ready");
	for (const query of QUERY_NAMES) {
		for (const way of ["text", "known", "again"] as const) {
			const requests = new Requests(query, ids[query], way);
			await ask(port, requests.next(WARM_REQUESTS));
			table[`${query} ${way}`] = await countHot(server, port, requests);
		}
		const requests = new Requests(query, ids[query], "known");
		for (const row of ["shared", "cold"] as const) {
			table[`${query} ${row}`] = await countForgotten(
				server,
				port,
				requests,
				row === "cold",
			);
		}
	}
}

/**
 * Requests for one object. Each differs from the others by a space, because the
 * server may use a whole answer again for the same request.
 */
class Requests {
	readonly #query: QueryName;
	readonly #id: string;
	readonly #way: "text" | "known" | "again";
	#made = 0;

	constructor(query: QueryName, id: string, way: "text" | "known" | "again") {
		this.#query = query;
		this.#id = id;
		this.#way = way;
	}

	next(count: number): readonly string[] {
		return Array.from({ length: count }, () =>
			spellRequest(
				{
					text: textOf("corkboard", this.#query),
					variables: { id: this.#id },
				},
				this.#way === "text" ? "text" : "known",
				{ padding: this.#way === "again" ? 0 : this.#made++ },
			),
		);
	}
}

/** The least of several windows: what else the process does only adds to them. */
async function countHot(
	server: GuardedServer,
	port: number,
	requests: Requests,
): Promise<RequestCounts> {
	const least = leastOf(
		await countWindows(WINDOWS, async (promises) => {
			await server.ask({ kind: "start", promises }, "started");
			await ask(port, requests.next(REQUESTS));
			return (await server.ask({ kind: "stop" }, "counts")).counts;
		}),
	);
	return Object.fromEntries(
		Object.entries(least).map(([name, count]) => [
			name,
			Math.round(count / REQUESTS),
		]),
	) as unknown as RequestCounts;
}

async function countForgotten(
	server: GuardedServer,
	port: number,
	requests: Requests,
	shared: boolean,
): Promise<RequestCounts> {
	return leastOf(
		await countWindows(COLD_REQUESTS, async (promises) => {
			await server.ask({ kind: "forget", shared }, "forgotten");
			await server.ask({ kind: "start", promises }, "started");
			await ask(port, requests.next(1));
			return (await server.ask({ kind: "stop" }, "counts")).counts;
		}),
	);
}

/** So many windows with promises, which have no bytes, and so many undisturbed ones without. */
async function countWindows(
	wanted: number,
	countWindow: (promises: boolean) => Promise<Counts>,
): Promise<readonly Counts[]> {
	const windows: Counts[] = [];
	for (let n = 0; n < wanted; n++) {
		windows.push(await countWindow(false));
		windows.push({ ...(await countWindow(true)), bytes: null });
	}
	while (
		undisturbed(windows).length < wanted &&
		windows.length < MOST_WINDOWS
	) {
		windows.push(await countWindow(false));
	}
	return windows;
}

function leastOf(windows: readonly Counts[]): RequestCounts {
	const least = (name: keyof Counts, of = windows) =>
		Math.min(...of.map((counts) => counts[name] ?? Number.POSITIVE_INFINITY));
	return {
		statements: least("statements"),
		cacheCommands: least("cacheCommands"),
		cursors: least("cursors"),
		promises: least(
			"promises",
			// Zero where they were not counted.
			windows.filter(({ promises }) => promises > 0),
		),
		bytes: medianBytes(undisturbed(windows)),
	};
}

/**
 * The windows with bytes in which requests took about as few statements
 * and cache commands as in any: on a busy machine the process may for a moment
 * not use what it has cached, and what it does by itself every second falls into
 * more windows. Both allocate.
 */
function undisturbed(windows: readonly Counts[]): readonly Counts[] {
	const calls = ({ statements, cacheCommands }: Counts) =>
		statements + cacheCommands;
	const withBytes = windows.filter(({ bytes }) => bytes !== null);
	const fewest = Math.min(...withBytes.map(calls));
	return withBytes.filter((counts) => calls(counts) <= 1.2 * fewest);
}

/** Not the least: what was freed meanwhile makes a window look small. */
function medianBytes(counted: readonly Counts[]): number {
	const sorted = counted
		.flatMap(({ bytes }) => (bytes === null ? [] : [bytes]))
		.toSorted((a, b) => a - b);
	const median = sorted[sorted.length >> 1];
	if (median === undefined) {
		throw new Error("Garbage was collected in every window.");
	}
	return median;
}

async function ask(port: number, requests: readonly string[]): Promise<void> {
	const result = await sendLoad({
		port,
		set: "guard",
		requests,
		order: Uint32Array.from(requests, (_, n) => n),
		from: 0,
		connections: 1,
		ms: LOAD_LIMIT_MS,
		most: requests.length,
	});
	if (result.errors > 0 || result.requests !== requests.length) {
		throw new Error(
			`Of ${requests.length} requests ${result.requests} were answered: ${result.firstError}`,
		);
	}
}

class GuardedServer implements AsyncDisposable {
	readonly #child: ChildProcess;

	constructor(env: Readonly<Record<string, string>>) {
		this.#child = fork(SERVER, {
			execArgv: [
				"--expose-gc",
				"--no-opt",
				"--no-maglev",
				`--max-semi-space-size=${YOUNG_MB}`,
				`--min-semi-space-size=${YOUNG_MB}`,
			],
			env: { PATH: process.env.PATH, ...env },
		});
	}

	async ask<K extends GuardMessage["kind"]>(
		request: GuardRequest,
		kind: K,
	): Promise<Extract<GuardMessage, { kind: K }>> {
		const answer = this.expect(kind);
		this.#child.send(request);
		return answer;
	}

	async expect<K extends GuardMessage["kind"]>(
		kind: K,
	): Promise<Extract<GuardMessage, { kind: K }>> {
		const message = await answerOf(this.#child, ANSWER_LIMIT_MS);
		if ((message as GuardMessage).kind !== kind) {
			throw new Error(`Expected ${kind}, got ${JSON.stringify(message)}.`);
		}
		return message as Extract<GuardMessage, { kind: K }>;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#child.exitCode !== null) return;
		const ended = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await ended;
	}
}
