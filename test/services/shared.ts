import { Redis } from "ioredis";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { ask } from "./ask.ts";
import { startMariadb } from "./mariadb.ts";
import { startMemcached } from "./memcached.ts";
import { startMysql } from "./mysql.ts";
import { describeProgram, findProgram, type ProgramName } from "./program.ts";
import { startRedis } from "./redis.ts";
import { say } from "./say.ts";
import type { Server } from "./server.ts";

export const KINDS = ["mysql", "mariadb", "redis", "memcached"] as const;
export type Kind = (typeof KINDS)[number];

/** How many servers of each kind; none of those left out. */
export type Wanted = Partial<Readonly<Record<Kind, number>>>;

/** Servers of one's own: to stop, pause and restart. */
export type OwnServices = Readonly<Record<Kind, readonly Server[]>> &
	AsyncDisposable;

/** Where servers answer: `mysql://user:password@host:port`, `redis://host:port`, and memcached's `host:port`. */
export type Services = Readonly<Record<Kind, readonly string[]>> &
	AsyncDisposable;

interface KindFacts {
	readonly setting: string;
	readonly program: ProgramName;
	start(): Promise<Server>;
	/** Asks the server itself, which has to answer. */
	version(address: string): Promise<string>;
}

const FACTS: Readonly<Record<Kind, KindFacts>> = {
	mysql: {
		setting: "TEST_MYSQL",
		program: "mysqld",
		start: startMysql,
		version: sqlVersion,
	},
	mariadb: {
		setting: "TEST_MARIADB",
		program: "mariadbd",
		start: startMariadb,
		version: sqlVersion,
	},
	redis: {
		setting: "TEST_REDIS",
		program: "redis-server",
		start: startRedis,
		version: redisVersion,
	},
	memcached: {
		setting: "TEST_MEMCACHED",
		program: "memcached",
		start: startMemcached,
		version: memcachedVersion,
	},
};

const ANSWER_LIMIT_MS = 60_000;

/** Private servers, all started at once; none are left where one does not start. */
export async function startServices(wanted: Wanted): Promise<OwnServices> {
	await using stack = new AsyncDisposableStack();
	const starting = KINDS.map((kind) =>
		Promise.allSettled(
			Array.from({ length: wanted[kind] ?? 0 }, () => FACTS[kind].start()),
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

/**
 * Servers that others may be using, too: those that TEST_MYSQL, TEST_MARIADB,
 * TEST_REDIS and TEST_MEMCACHED name (addresses with commas between them), else
 * started here. Says which they are, and their versions. Whoever gets them uses
 * databases and key prefixes of their own, and flushes nothing.
 */
export async function sharedServices(
	wanted: Wanted,
	environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Services> {
	const given = (kind: Kind) => addressesIn(environment, kind);
	for (const kind of KINDS) {
		const addresses = given(kind);
		const count = wanted[kind] ?? 0;
		if (addresses !== null && addresses.length < count) {
			throw new Error(
				`expected ${count} addresses in ${FACTS[kind].setting} but got: ${addresses.length}`,
			);
		}
	}
	const own = await startServices(
		Object.fromEntries(
			KINDS.map((kind) => [
				kind,
				given(kind) === null ? (wanted[kind] ?? 0) : 0,
			]),
		),
	);
	try {
		const addresses = Object.fromEntries(
			KINDS.map((kind) => [
				kind,
				given(kind)?.slice(0, wanted[kind] ?? 0) ??
					own[kind].map((server) =>
						kind === "memcached" ? server.address : server.url,
					),
			]),
		) as unknown as Readonly<Record<Kind, readonly string[]>>;
		for (const kind of KINDS) {
			for (const address of addresses[kind]) {
				say(await describe(kind, address, given(kind) !== null));
			}
		}
		return {
			...addresses,
			[Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
		};
	} catch (error) {
		await own[Symbol.asyncDispose]();
		throw error;
	}
}

/** The variables that make `sharedServices`, in a process that has them, take these servers. */
export function environmentOf(
	services: Readonly<Record<Kind, readonly string[]>>,
): Readonly<Record<string, string>> {
	return Object.fromEntries(
		KINDS.filter((kind) => services[kind].length > 0).map((kind) => [
			FACTS[kind].setting,
			services[kind].join(","),
		]),
	);
}

function addressesIn(
	environment: Readonly<Record<string, string | undefined>>,
	kind: Kind,
): readonly string[] | null {
	const list = (environment[FACTS[kind].setting] ?? "")
		.split(",")
		.map((address) => address.trim())
		.filter((address) => address !== "");
	return list.length === 0 ? null : list;
}

async function describe(
	kind: Kind,
	address: string,
	isGiven: boolean,
): Promise<string> {
	const { setting, program, version } = FACTS[kind];
	// A password stays where it is.
	const where = address.replace(/^.*[@/]/, "");
	try {
		const release = await version(address);
		const from = isGiven
			? `from ${setting}`
			: describeProgram(await findProgram(program));
		return `${kind} ${release} at ${where} (${from})`;
	} catch (cause) {
		throw new Error(
			`expected a ${kind} to answer at ${where} but got: ${cause instanceof Error ? cause.message : cause}${isGiven ? `. Start it, or leave out ${setting} to have one started` : ""}`,
			{ cause },
		);
	}
}

async function sqlVersion(url: string): Promise<string> {
	const connection = await createConnection({
		uri: url,
		connectTimeout: ANSWER_LIMIT_MS,
	});
	try {
		const [[row]] = await connection.query<RowDataPacket[]>({
			sql: "SELECT VERSION() AS version",
			timeout: ANSWER_LIMIT_MS,
		});
		return String(row?.version);
	} finally {
		connection.destroy();
	}
}

async function redisVersion(url: string): Promise<string> {
	const redis = new Redis(url, {
		lazyConnect: true,
		connectTimeout: ANSWER_LIMIT_MS,
		commandTimeout: ANSWER_LIMIT_MS,
		retryStrategy: () => null,
	});
	redis.on("error", () => {});
	try {
		await redis.connect();
		const info = await redis.info("server");
		return /redis_version:(\S+)/.exec(info)?.[1] ?? "of unknown version";
	} finally {
		redis.disconnect();
	}
}

async function memcachedVersion(address: string): Promise<string> {
	const { hostname, port } = new URL(`memcached://${address}`);
	const text = await ask(
		{ host: hostname, port: Number(port || 11_211) },
		"version",
		/\r\n$/,
	);
	return text.replace(/^VERSION /, "").trim();
}
