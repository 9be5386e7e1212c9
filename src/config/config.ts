import { redisUrlFault } from "../cache/redisUrl.ts";
import { CorkboardError } from "../errors.ts";
import {
	parseTopologyLocation,
	type TopologyLocation,
	topologyName,
} from "../topology/location.ts";
import { readSettings, type Settings } from "../util/environment.ts";
import { fnv1a } from "../util/fnv1a.ts";
import {
	LOG_FORMATS,
	LOG_LEVELS,
	type LogFormat,
	type LogLevel,
	parseLogSettings,
} from "../util/logSettings.ts";
import {
	parseAddress,
	parseHosts,
	parseInteger,
	parseList,
	parseOneOf,
	parseOnOff,
	parseOrigins,
	parseProxies,
	parseRate,
} from "../util/settings.ts";
import { type FeedConfig, feedOf } from "./feedConfig.ts";
import { type HttpConfig, httpOf } from "./httpConfig.ts";
import { type IdentityConfig, identityOf } from "./identityConfig.ts";
import { SETTINGS } from "./settings.ts";
import { type TracesConfig, tracesOf } from "./tracesConfig.ts";

/** The settings, checked (docs/configuration.md). Only entry points read the environment. */
export interface Config {
	readonly host: string;
	/** 0: any free port. */
	readonly port: number;
	readonly mode: "development" | "production";
	readonly store: Store;
	/** `host:port` of each memcached; none: objects are in no shared cache. */
	readonly memcached: readonly string[];
	/** `redis://…`; null: list heads are in no shared cache, and processes do not invalidate each other's caches. */
	readonly redis: string | null;
	/** Size of the cache in the process, about; 0: none. */
	readonly cacheBytes: number;
	/** Of whole answers that a process keeps to use again. */
	readonly answerCacheBytes: number;
	/** The HS256 secret; null: the embedded folder's own (`embeddedSecret`). */
	readonly secret: Uint8Array | null;
	readonly identity: IdentityConfig;
	readonly graphiql: "everyone" | "operators" | "nobody";
	readonly maxCost: number;
	/** Edges and objects that one viewer or address may read per period; null: unlimited. */
	readonly budgetLimit: {
		readonly points: number;
		readonly perMs: number;
	} | null;
	/** Allowed CORS origins, besides localhost in development. */
	readonly cors: readonly string[];
	readonly log: { readonly level: LogLevel; readonly format: LogFormat };
	/** Trusted X-Forwarded-* headers: of every client, of none, or of these addresses and networks. */
	readonly trustProxy: boolean | string;
	readonly persistedDocuments: {
		readonly mode: "off" | "report" | "strict";
		/** Empty if the mode is off, else at least one. */
		readonly files: readonly string[];
	};
	readonly http: HttpConfig;
	/** Where operators read metrics; null: nowhere. */
	readonly admin: { readonly host: string; readonly port: number } | null;
	/** Documents with metrics of their own. */
	readonly metricsDocuments: number;
	/** A request that takes longer is logged with its plan. Milliseconds; null: none is. */
	readonly slowMs: number | null;
	/** Null where OpenTelemetry's variables ask for no traces. */
	readonly traces: TracesConfig | null;
	/** Days that usage is kept; 0: it is not counted. */
	readonly usageDays: number;
	readonly worker: WorkerConfig;
	/** Of a file that ranks pins for home feeds; null: the default. */
	readonly ranker: string | null;
	/** What adds waiting pins to a home feed: reading it, or only the mutation. */
	readonly feedFreshen: "query" | "mutation";
	readonly feed: FeedConfig;
}

export interface WorkerConfig {
	/** Whether `serve` runs jobs. */
	readonly inServe: boolean;
	/** Jobs that a process runs at the same time. */
	readonly concurrency: number;
	/** The queues whose jobs it runs; null: all. */
	readonly queues: readonly string[] | null;
}

export type Store =
	| {
			readonly kind: "embedded";
			readonly folder: string;
			/** Whether the demo graph is imported into an empty folder. */
			readonly demo: boolean;
	  }
	| {
			readonly kind: "topology";
			/** Where it is: as operators call it, without a password. */
			readonly name: string;
			readonly location: TopologyLocation;
			/** Path of the copy of the last good version. */
			readonly copy: string;
	  };

/** HS256 needs a key as long as its hash (RFC 7518, section 3.2). */
export const SECRET_BYTES = 32;

const BYTES_PER_MB = 1_048_576;

/** Longer than a load balancer, or Kubernetes, takes to send no new connection to a server that is not ready. */
const SHUTDOWN_DELAY_MS = 5_000;

/** Per address, in production behind a trusted proxy, where addresses are those of clients. */
const RATE_LIMIT = { requests: 600, perMs: 60_000 } as const;

/**
 * Reads the settings of an environment. Throws BAD_CONFIG with every problem. An
 * empty setting counts as not given. `secret: "unneeded"` is for commands that
 * neither sign nor verify a token.
 */
export function readConfig(
	environment: Readonly<Record<string, string | undefined>>,
	{ secret: need = "needed" }: { readonly secret?: "needed" | "unneeded" } = {},
): Config {
	const settings = readSettings(
		environment,
		SETTINGS.map(({ name }) => name),
	);
	const { given, setting, problems } = settings;
	const file = given("CORKBOARD_TOPOLOGY") ?? null;
	const mode = setting(
		"CORKBOARD_MODE",
		"development or production",
		(text) => parseOneOf(["development", "production"] as const, text),
		file === null ? "development" : "production",
	);
	const persistedDocuments = documentsOf(settings);
	const identity = identityOf(settings);
	const trustProxy = setting(
		"CORKBOARD_TRUST_PROXY",
		"off, on, or addresses and networks separated by commas",
		parseProxies,
		false,
	);
	const maxCost = setting(
		"CORKBOARD_MAX_COST",
		"an integer from 1 to 1000000000",
		(text) => parseInteger(text, 1, 1_000_000_000),
		60_000,
	);
	const config: Config = {
		host: given("HOST") ?? (file === null ? "127.0.0.1" : "0.0.0.0"),
		port: setting(
			"PORT",
			"a port from 0 to 65535",
			(text) => parseInteger(text, 0, 65_535),
			4000,
		),
		mode,
		store: storeOf(settings, file),
		memcached: setting(
			"CORKBOARD_MEMCACHED",
			"host:port, separated by commas, without options",
			parseHosts,
			[],
		),
		redis: redisOf(settings),
		cacheBytes:
			setting(
				"CORKBOARD_CACHE_MB",
				"an integer from 0 to 65536",
				(text) => parseInteger(text, 0, 65_536),
				96,
			) * BYTES_PER_MB,
		answerCacheBytes:
			setting(
				"CORKBOARD_ANSWER_CACHE_MB",
				"an integer from 0 to 65536",
				(text) => parseInteger(text, 0, 65_536),
				32,
			) * BYTES_PER_MB,
		secret: secretOf(settings, file !== null && need === "needed"),
		identity,
		graphiql: setting<Config["graphiql"]>(
			"CORKBOARD_GRAPHIQL",
			"on or off",
			(text) => {
				const isOn = parseOnOff(text);
				return isOn === undefined ? undefined : isOn ? "everyone" : "nobody";
			},
			mode === "development" && persistedDocuments.mode !== "strict"
				? "everyone"
				: identity.operators.ids.size + identity.operators.claims.length > 0
					? "operators"
					: "nobody",
		),
		maxCost,
		budgetLimit: budgetLimitOf(settings, maxCost),
		cors: setting(
			"CORKBOARD_CORS",
			"origins separated by commas, such as https://example.com, or off",
			parseOrigins,
			[],
		),
		log: {
			level: "info",
			format: mode === "development" ? "text" : "json",
			...setting(
				"CORKBOARD_LOG",
				`a level (${LOG_LEVELS.join(", ")}), a format (${LOG_FORMATS.join(", ")}), or both separated by a comma`,
				parseLogSettings,
				{},
			),
		},
		trustProxy,
		persistedDocuments,
		// Behind a proxy that is not trusted all clients have one address.
		http: httpOf(
			settings,
			mode === "production" && trustProxy !== false ? RATE_LIMIT : null,
			mode === "production" ? SHUTDOWN_DELAY_MS : 0,
		),
		admin: setting(
			"CORKBOARD_ADMIN",
			"host:port, such as 127.0.0.1:9464",
			parseAddress,
			null,
		),
		metricsDocuments: setting(
			"CORKBOARD_METRICS_DOCUMENTS",
			"an integer from 0 to 10000",
			(text) => parseInteger(text, 0, 10_000),
			100,
		),
		slowMs: setting<number | null>(
			"CORKBOARD_SLOW",
			"off, or milliseconds from 1 to 3600000",
			(text) => (text === "off" ? null : parseInteger(text, 1, 3_600_000)),
			500,
		),
		traces: tracesOf(settings),
		usageDays: setting(
			"CORKBOARD_USAGE_DAYS",
			"an integer from 0 to 400",
			(text) => parseInteger(text, 0, 400),
			90,
		),
		ranker: setting("CORKBOARD_RANKER", "a path", (text) => text, null),
		feedFreshen: setting(
			"CORKBOARD_FEED_FRESHEN",
			"query or mutation",
			(text) => parseOneOf(["query", "mutation"] as const, text),
			"query",
		),
		worker: {
			inServe: setting(
				"CORKBOARD_WORKER",
				"on or off",
				parseOnOff,
				// One process owns an embedded folder, so nobody else can run its jobs.
				file === null,
			),
			concurrency: setting(
				"CORKBOARD_WORKER_CONCURRENCY",
				"an integer from 1 to 1000",
				(text) => parseInteger(text, 1, 1_000),
				10,
			),
			queues: setting<readonly string[] | null>(
				"CORKBOARD_WORKER_QUEUES",
				"names of queues, separated by commas",
				parseList,
				null,
			),
		},
		feed: feedOf(settings),
	};
	if (problems.length > 0) {
		throw new CorkboardError("BAD_CONFIG", problems.join("\n"));
	}
	return config;
}

/** Null where none is given, or not a valid one. */
function redisOf({ given, problems }: Settings): string | null {
	const url = given("CORKBOARD_REDIS");
	const fault = url === undefined ? null : redisUrlFault(url);
	if (fault !== null) problems.push(`CORKBOARD_REDIS: ${fault}.`);
	return fault === null ? (url ?? null) : null;
}

function storeOf(
	{ given, setting, problems }: Settings,
	file: string | null,
): Store {
	const demo = setting("CORKBOARD_DEMO", "on or off", parseOnOff, true);
	const folder = given("CORKBOARD_DATA");
	if (file === null) {
		for (const name of ["CORKBOARD_MEMCACHED", "CORKBOARD_REDIS"]) {
			if (given(name) === undefined) continue;
			problems.push(
				`${name} needs CORKBOARD_TOPOLOGY: the one process that owns an embedded folder has its own cache. Leave it out.`,
			);
		}
		return { kind: "embedded", folder: folder ?? "data", demo };
	}
	if (folder !== undefined) {
		problems.push(
			"CORKBOARD_TOPOLOGY and CORKBOARD_DATA must not both be given: a topology names its hosts. Leave one of them out.",
		);
	}
	const location = parseTopologyLocation(file);
	if (location === undefined) {
		problems.push(
			"CORKBOARD_TOPOLOGY must be the path of a file, or servers of ZooKeeper as in zk://host:2181,host:2181/corkboard, without options.",
		);
		return { kind: "embedded", folder: "data", demo: false };
	}
	const name = topologyName(location);
	const copy =
		given("CORKBOARD_TOPOLOGY_COPY") ??
		(location.scheme === "file"
			? `${location.file}.kept`
			: `topology-${fnv1a(name).toString(16)}.kept`);
	return {
		kind: "topology",
		name,
		location:
			location.scheme === "zk"
				? {
						...location,
						authFile: given("CORKBOARD_TOPOLOGY_AUTH_FILE") ?? null,
					}
				: location,
		copy,
	};
}

function documentsOf({
	given,
	setting,
	problems,
}: Settings): Config["persistedDocuments"] {
	const mode = setting(
		"CORKBOARD_DOCUMENTS",
		"off, report or strict",
		(text) => parseOneOf(["off", "report", "strict"] as const, text),
		"off",
	);
	const files = parseList(given("CORKBOARD_DOCUMENT_FILES") ?? "");
	if (mode === "off" && files.length > 0) {
		problems.push(
			"CORKBOARD_DOCUMENT_FILES needs CORKBOARD_DOCUMENTS=report or strict.",
		);
	}
	if (mode !== "off" && files.length === 0) {
		problems.push(
			`CORKBOARD_DOCUMENTS=${mode} needs CORKBOARD_DOCUMENT_FILES: paths, separated by commas.`,
		);
	}
	return { mode, files };
}

function secretOf(
	{ given, problems }: Settings,
	isNeeded: boolean,
): Uint8Array | null {
	const secret = given("CORKBOARD_SECRET");
	if (secret === undefined) {
		if (isNeeded) {
			problems.push(
				`CORKBOARD_SECRET is missing. With a topology all servers must share a secret of at least ${SECRET_BYTES} bytes.`,
			);
		}
		return null;
	}
	const bytes = Buffer.from(secret);
	if (bytes.length < SECRET_BYTES) {
		// The message does not repeat the value, which may be part of a secret.
		problems.push(
			`CORKBOARD_SECRET must have at least ${SECRET_BYTES} bytes, got ${bytes.length}.`,
		);
	}
	return bytes;
}

function budgetLimitOf(
	{ setting, problems }: Settings,
	maxCost: number,
): Config["budgetLimit"] {
	const budget = setting(
		"CORKBOARD_BUDGET",
		"off, or the most that one viewer or address may read per second, minute or hour, such as 500000/minute",
		parseRate,
		null,
	);
	if (budget === null) return null;
	const { requests: points, perMs } = budget;
	if (points < maxCost) {
		problems.push(
			`CORKBOARD_BUDGET must be at least CORKBOARD_MAX_COST, else some operations could never run, got ${points} and ${maxCost}.`,
		);
	}
	return { points, perMs };
}
