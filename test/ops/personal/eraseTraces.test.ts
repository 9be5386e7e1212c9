import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Redis } from "ioredis";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import pins from "../../../pins/app.ts";
import {
	type Corkboard,
	openCorkboard,
} from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { feedUser } from "../../../src/feed/jobs/feedUser.ts";
import type { Id } from "../../../src/id/ids.ts";
import { PRESENT } from "../../../src/storage/rows.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { startWhole, type WholeServer } from "../../helpers/wholeServer.ts";
import { ask } from "../../services/ask.ts";
import {
	type OwnServices,
	startServices,
} from "../../services/startServices.ts";

/** Whatever Ada wrote has this word. */
const PLANTED = /planted/i;
/** How long a shared cache may keep an entry that names Ada, without her content. Milliseconds. */
const KEPT_MS = 3_600_000;
/** How long the text of a document is kept that a client has registered by its hash. Milliseconds. */
const DOCUMENT_MS = 24 * 3_600_000;
/** A query with her name in its text. */
const KNOWN = `{ user(by: { username: "planted_ada" }) { id name bio boards(first: 5) { nodes { name pins(first: 5) { nodes { details comments(first: 5) { nodes { text } } } } } } } }`;
const COMMENTS = (pin: Id) =>
	`{ node(id: "${pin}") { ... on Pin { comments(first: 5) { nodes { text } } likedBy(first: 5) { nodes { name } } } } }`;
const persistedQuery = {
	version: 1,
	sha256Hash: createHash("sha256").update(KNOWN).digest("hex"),
};

const stack = new AsyncDisposableStack();
let services: OwnServices;
let env: Readonly<Record<string, string>>;
/** A process that writes, and runs jobs; and one that serves. */
let writer: Corkboard;
let server: WholeServer;

before(async () => {
	services = stack.use(
		await startServices({ mysql: 1, redis: 1, memcached: 1 }),
	);
	const folder = stack.use(temporaryFolder());
	const [mysql, redis, memcached] = [
		services.mysql[0],
		services.redis[0],
		services.memcached[0],
	];
	assert.ok(mysql && redis && memcached);
	const file = join(folder.path, "topology.json");
	const [two, one] = [1, 0].map((last) => ({
		range: [0, last],
		primary: mysql.url,
	}));
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ ...two, open: true }],
			lookups: [two],
			queues: [one],
			pools: [one],
		}),
	);
	env = {
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "a secret of more than thirty-two bytes",
		CORKBOARD_REDIS: redis.url,
		CORKBOARD_MEMCACHED: `${memcached.host}:${memcached.port}`,
	};
	const made = await runHere(["init"], { env });
	assert.equal(made.code, 0, made.err);
	writer = stack.use(await openCorkboard(pins, readConfig(env)));
	stack.use(await writer.startWorker({ queues: null, concurrency: 5 }));
	server = stack.use(await startWhole(env));
});
after(() => stack.disposeAsync());

interface Person {
	readonly id: Id;
	readonly token: string;
}

/** The data of an operation without errors, in the process that writes. */
async function done<T>(viewer: Id | null, source: string): Promise<T> {
	const { data, errors } = await writer.query(source, { viewer });
	assert.equal(errors, undefined, JSON.stringify(errors));
	return data as T;
}

/** The text of an answer over HTTP. A server on a busy machine may run out of time. */
async function answer(body: object, { token }: Person): Promise<string> {
	let found = "";
	await until("an answer in time", async () => {
		const headers = { authorization: `Bearer ${token}` };
		found = (await server.ask(body, headers)).text;
		return !found.includes("UNAVAILABLE");
	});
	return found;
}

async function change(
	{ id }: Person,
	mutation: string,
	what: string,
): Promise<Id> {
	const { made } = await done<{ made: Record<string, { id: Id }> }>(
		id,
		`mutation { made: ${mutation} { ${what} { id } } }`,
	);
	return made[what]?.id as Id;
}

async function person(input: string): Promise<Person> {
	const { createUser } = await done<{
		createUser: { token: string; user: { id: Id } };
	}>(
		null,
		`mutation { createUser(input: { ${input} }) { token user { id } } }`,
	);
	return { token: createUser.token, id: createUser.user.id };
}

async function home({ id }: Person): Promise<readonly Id[]> {
	const { viewer } = await done<{
		viewer: { homeFeed: { nodes: readonly { id: Id }[] } };
	}>(id, "{ viewer { homeFeed(first: 10) { nodes { id } } } }");
	return viewer.homeFeed.nodes.map((node) => node.id);
}

/** Every cell of every table in databases with such names, as `database.table: text`. */
async function cells(
	databases: string,
): Promise<
	readonly { readonly table: string; readonly row: Record<string, string> }[]
> {
	const [mysql] = services.mysql;
	assert.ok(mysql);
	const connection = await createConnection({ uri: mysql.url });
	await using _ = { [Symbol.asyncDispose]: () => connection.end() };
	const [tables] = await connection.query<RowDataPacket[]>(
		`SELECT CONCAT(table_schema, '.', table_name) AS name FROM information_schema.tables
			WHERE table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND table_schema LIKE ?`,
		[databases],
	);
	const found = [];
	for (const { name } of tables) {
		const [schema, table] = String(name).split(".");
		const [rows] = await connection.query<RowDataPacket[]>(
			`SELECT * FROM \`${schema}\`.\`${table}\``,
		);
		for (const row of rows) {
			const texts = Object.entries(row).map(([column, cell]) => [
				column,
				String(cell),
			]);
			found.push({ table: String(name), row: Object.fromEntries(texts) });
		}
	}
	return found;
}

/** Every key of Redis with its value, and in how many milliseconds it ends; -1: never. */
async function redisEntries() {
	const [redis] = services.redis;
	assert.ok(redis);
	const client = new Redis(redis.url);
	try {
		const entries = [];
		for (const key of await client.keys("*")) {
			const type = await client.type(key);
			const value =
				type === "string"
					? await client.get(key)
					: type === "hash"
						? await client.hgetall(key)
						: type === "stream"
							? await client.xrange(key, "-", "+")
							: type === "zset"
								? await client.zrange(key, "0", "-1")
								: type === "set"
									? await client.smembers(key)
									: await client.lrange(key, 0, -1);
			const endsInMs = await client.pttl(key);
			entries.push({ key, text: JSON.stringify(value), endsInMs });
		}
		return entries;
	} finally {
		client.disconnect();
	}
}

/** The same of memcached. */
async function memcachedEntries() {
	const [memcached] = services.memcached;
	assert.ok(memcached);
	const dump = await ask(memcached, "lru_crawler metadump all", /END\r\n$/);
	const entries = [];
	for (const [, encoded, ends] of dump.matchAll(/key=(\S+) exp=(-?\d+)/g)) {
		const key = decodeURIComponent(encoded as string);
		const text = await ask(memcached, `get ${key}`, /END\r\n$/);
		const endsInMs = ends === "-1" ? -1 : Number(ends) * 1_000 - Date.now();
		entries.push({ key, text, endsInMs });
	}
	return entries;
}

describe("after an erasure on real servers", () => {
	it("nothing that the person wrote is left in tables, queues, pools, caches and answers", async () => {
		const changes = join(stack.use(temporaryFolder()).path, "changes");
		const changed = async (...args: readonly string[]) => {
			const { code, err } = await runHere(["changes", ...args], { env });
			assert.equal(code, 0, err);
			return readdirSync(changes)
				.map((name) => readFileSync(join(changes, name), "utf8"))
				.join("");
		};
		const catchUp = ["follow", "--until-now", "--to", `file:${changes}`];
		await changed(...catchUp);
		const ada = await person(
			`username: "planted_ada", name: "Planted Ada", email: "ada@planted.example", bio: "planted bio", idempotencyKey: "planted-key"`,
		);
		const ben = await person(`username: "ben"`);
		const board = await change(
			ada,
			`createBoard(input: { name: "Planted board" })`,
			"board",
		);
		const hidden = await change(
			ada,
			`createBoard(input: { name: "Planted secret", secret: true })`,
			"board",
		);
		const own = await change(
			ben,
			`createBoard(input: { name: "Own" })`,
			"board",
		);
		const his = await change(
			ben,
			`createPin(input: { boardId: "${own}", details: "Own loaf" })`,
			"pin",
		);
		await change(ben, `followUser(input: { userId: "${ada.id}" })`, "user");
		await change(ada, `followUser(input: { userId: "${ben.id}" })`, "user");
		// Who looks gets what comes later into the pool.
		await home(ben);
		await home(ada);
		const shown = await change(
			ada,
			`createPin(input: { boardId: "${board}", details: "Planted shown" })`,
			"pin",
		);
		await until("Ada's pin in Ben's feed", async () =>
			(await home(ben)).includes(shown),
		);
		const waiting = await change(
			ada,
			`createPin(input: { boardId: "${board}", details: "Planted waiting" })`,
			"pin",
		);
		const secret = await change(
			ada,
			`createPin(input: { boardId: "${hidden}", details: "Planted and secret" })`,
			"pin",
		);
		await until("a pin that waits in Ben's pool", async () =>
			(await cells("pool%")).some(({ row }) =>
				Object.values(row).includes(waiting),
			),
		);
		const remark = await change(
			ada,
			`addComment(input: { pinId: "${his}", text: "Planted remark" })`,
			"comment",
		);
		await change(ada, `likePin(input: { pinId: "${his}" })`, "pin");
		await change(ben, `likePin(input: { pinId: "${shown}" })`, "pin");
		await done(
			ada.id,
			`mutation { report(input: { subjectId: "${his}", reason: SPAM, text: "Planted report" }) { subjectId } }`,
		);
		const later = { delayMs: 3_600_000 };
		const jobs = writer.queues?.jobs;
		await jobs?.enqueue(feedUser, { do: "rebuild", user: ada.id }, later);
		const follow = { do: "follow", user: ben.id, via: ada.id } as const;
		await jobs?.enqueue(feedUser, follow, later);
		// As often as it takes to be cached.
		for (let times = 0; times < 3; times++) {
			for (const reader of [ada, ben]) {
				const known = { query: KNOWN, extensions: { persistedQuery } };
				assert.match(await answer(known, reader), /planted bio/);
				await done(reader.id, KNOWN);
				await done(reader.id, COMMENTS(his));
				await answer({ query: COMMENTS(his) }, reader);
			}
		}
		const ids = [ada.id, board, hidden, shown, waiting, secret, remark];
		assert.ok(
			(await memcachedEntries()).some(({ text }) => PLANTED.test(text)),
		);
		assert.ok((await redisEntries()).some(({ text }) => PLANTED.test(text)));

		assert.match(await changed(...catchUp), PLANTED);
		const erased = await runHere(
			["accounts", "erase", ada.id, "--now", "--yes", "--json"],
			{ env },
		);
		assert.equal(erased.code, 0, erased.err);
		const report = JSON.parse(erased.out);
		assert.equal(report.objects, ids.length + 1, "and a report");
		assert.deepEqual(report.references, []);

		await changed(...catchUp);
		const left = await changed("forget", changes, "--yes");
		assert.match(left, /Own loaf/);
		assert.doesNotMatch(left, PLANTED);
		const traces: string[] = [];
		const note = (place: string, what: unknown) =>
			traces.push(`${place}: ${JSON.stringify(what)}`);
		for (const { table, row } of await cells("%")) {
			const text = Object.values(row).join(" ");
			if (PLANTED.test(text)) note(table, row);
			const names = ids.find((id) => text.includes(id));
			if (names === undefined) continue;
			const isRemoved = "from_id" in row && row.state !== String(PRESENT);
			const isNote = ["erased users", "account audit"].includes(
				String(row.name),
			);
			if (!isRemoved && !isNote && !/^(?:queue|pool)/.test(table)) {
				note(table, row);
			}
			// A row of a pool is a trace if it waits in her pool.
			if (table.startsWith("pool") && row.user_id === ada.id) note(table, row);
		}
		const shared = [
			...(await redisEntries()).map((each) => ({ ...each, at: "redis" })),
			...(await memcachedEntries()).map((each) => ({
				...each,
				at: "memcached",
			})),
		];
		for (const { at, key, text, endsInMs } of shared) {
			// The text that a client has registered ends by itself.
			const isDocument =
				key.endsWith(`document.${persistedQuery.sha256Hash}`) &&
				text === JSON.stringify(KNOWN) &&
				endsInMs > 0 &&
				endsInMs <= DOCUMENT_MS;
			if (isDocument) continue;
			if (PLANTED.test(key + text)) note(at, { key, text, endsInMs });
			const names = ids.find((id) => (key + text).includes(id));
			if (names === undefined) continue;
			if (endsInMs < 0 || endsInMs > KEPT_MS) note(at, { key, text, endsInMs });
		}
		assert.deepEqual(traces, []);
		for (const body of [
			{ extensions: { persistedQuery } },
			{ query: KNOWN },
			{ query: COMMENTS(his) },
		]) {
			assert.doesNotMatch(await answer(body, ben), /planted (?!_ada)/i);
		}
		for (const id of ids) {
			const query = `{ node(id: "${id}") { id } }`;
			const text = await answer({ query }, ben);
			assert.deepEqual(JSON.parse(text).data, { node: null }, id);
			assert.deepEqual(
				{ ...(await done<object>(ben.id, query)) },
				{ node: null },
			);
		}
		assert.ok(!(await home(ben)).includes(shown));
	});
});
