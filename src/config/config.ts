import { CorkboardError } from "../errors.ts";
import { cacheUrlFault } from "../topology/caches.ts";
import {
	parseTopologyLocation,
	type TopologyLocation,
	topologyName,
} from "../topology/location.ts";
import type { TracesOptions } from "../traces/openTraces.ts";
import { fnv1a } from "../util/fnv1a.ts";
import type { LogSettings } from "./kinds.ts";
import { type Settings, settingsOf } from "./readSettings.ts";
import { parseSecrets, SECRET_BYTES, type Secrets } from "./secrets.ts";
import { tracesOf } from "./tracesConfig.ts";

/** The settings, checked (docs/reference/configuration.md). Only entry points read the environment. */
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
	/** What a process keeps of objects, heads and lookups, about; 0: nothing. */
	readonly cacheBytes: number;
	/** What whole responses add to that; 0: none is kept. */
	readonly answerCacheBytes: number;
	/** The first signs, all are accepted; null: the embedded folder's own (`embeddedSecrets`). */
	readonly secrets: Secrets | null;
	readonly identity: ReturnType<typeof identityOf>;
	readonly graphiql: "everyone" | "operators" | "nobody";
	readonly maxCost: number;
	/** Edges and objects that one viewer or address may read per period; null: unlimited. */
	readonly budgetLimit: {
		readonly points: number;
		readonly perMs: number;
	} | null;
	/** Allowed CORS origins, besides localhost in development. */
	readonly cors: readonly string[];
	readonly log: LogSettings;
	/** Trusted X-Forwarded-* headers: of every client, of none, or of these addresses and networks. */
	readonly trustProxy: boolean | string;
	readonly persistedDocuments: {
		readonly mode: "off" | "report" | "strict";
		/** Empty if the mode is off, else at least one. */
		readonly files: readonly string[];
	};
	readonly http: ReturnType<typeof httpOf>;
	/** Where operators read metrics; null: nowhere. */
	readonly admin: { readonly host: string; readonly port: number } | null;
	/** Documents with metrics of their own. */
	readonly metricsDocuments: number;
	/** A request that takes longer is logged with its plan. Milliseconds; null: none is. */
	readonly slowMs: number | null;
	/** Null if OpenTelemetry's variables ask for no traces. */
	readonly traces: TracesOptions | null;
	/** Days that usage is kept; 0: it is not counted. */
	readonly usageDays: number;
	readonly worker: WorkerConfig;
	/** The path of a file that ranks pins for home feeds; null: the default. */
	readonly ranker: string | null;
	/** What adds waiting pins to a home feed: reading it, or only the mutation. */
	readonly feedFreshen: "query" | "mutation";
	readonly feed: ReturnType<typeof feedOf>;
}

interface WorkerConfig {
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
	const settings = settingsOf(environment);
	const { given, value, valueOr, problems } = settings;
	const file = given("CORKBOARD_TOPOLOGY") ?? null;
	const mode = valueOr(
		"CORKBOARD_MODE",
		file === null ? "development" : "production",
	);
	const persistedDocuments = documentsOf(settings);
	const identity = identityOf(settings);
	const trustProxy = value("CORKBOARD_TRUST_PROXY");
	const maxCost = value("CORKBOARD_MAX_COST");
	const config: Config = {
		host: valueOr("HOST", file === null ? "127.0.0.1" : "0.0.0.0"),
		port: value("PORT"),
		mode,
		store: storeOf(settings, file),
		memcached: value("CORKBOARD_MEMCACHED"),
		redis: redisOf(settings),
		cacheBytes: value("CORKBOARD_CACHE_MB") * BYTES_PER_MB,
		answerCacheBytes: value("CORKBOARD_ANSWER_CACHE_MB") * BYTES_PER_MB,
		secrets: secretsOf(settings, file !== null && need === "needed"),
		identity,
		graphiql: graphiqlOf(settings, {
			isOpen: mode === "development" && persistedDocuments.mode !== "strict",
			identity,
		}),
		maxCost,
		budgetLimit: budgetLimitOf(settings, maxCost),
		cors: value("CORKBOARD_CORS"),
		log: {
			level: "info",
			format: mode === "development" ? "text" : "json",
			...valueOr("CORKBOARD_LOG", {}),
		},
		trustProxy,
		persistedDocuments,
		// Behind a proxy that is not trusted all clients have one address.
		http: httpOf(
			settings,
			mode === "production" && trustProxy !== false ? RATE_LIMIT : null,
			mode === "production" ? SHUTDOWN_DELAY_MS : 0,
		),
		admin: value("CORKBOARD_ADMIN"),
		metricsDocuments: value("CORKBOARD_METRICS_DOCUMENTS"),
		slowMs: value("CORKBOARD_SLOW"),
		traces: tracesOf(settings),
		usageDays: value("CORKBOARD_USAGE_DAYS"),
		ranker: value("CORKBOARD_RANKER"),
		feedFreshen: value("CORKBOARD_FEED_FRESHEN"),
		worker: {
			// One process owns an embedded folder, so nobody else can run its jobs.
			inServe: valueOr("CORKBOARD_WORKER", file === null),
			concurrency: value("CORKBOARD_WORKER_CONCURRENCY"),
			queues: value("CORKBOARD_WORKER_QUEUES"),
		},
		feed: feedOf(settings),
	};
	if (problems.length > 0) {
		throw new CorkboardError("BAD_CONFIG", problems.join("\n"));
	}
	return config;
}

function graphiqlOf(
	{ valueOr }: Settings,
	{
		isOpen,
		identity,
	}: { readonly isOpen: boolean; readonly identity: Config["identity"] },
): Config["graphiql"] {
	const isOn = valueOr("CORKBOARD_GRAPHIQL", null);
	if (isOn !== null) return isOn ? "everyone" : "nobody";
	if (isOpen) return "everyone";
	const { ids, claims } = identity.operators;
	return ids.size + claims.length > 0 ? "operators" : "nobody";
}

function redisOf({ given, problems }: Settings): string | null {
	const url = given("CORKBOARD_REDIS");
	const fault = url === undefined ? null : cacheUrlFault("lists", url);
	if (fault !== null) problems.push(`CORKBOARD_REDIS: ${fault}.`);
	return fault === null ? (url ?? null) : null;
}

function storeOf(
	{ given, value, valueOr, problems }: Settings,
	file: string | null,
): Store {
	const demo = value("CORKBOARD_DEMO");
	const folder = value("CORKBOARD_DATA");
	if (file === null) {
		for (const name of ["CORKBOARD_MEMCACHED", "CORKBOARD_REDIS"] as const) {
			if (given(name) === undefined) continue;
			problems.push(
				`${name} needs CORKBOARD_TOPOLOGY: the one process that owns an embedded folder has its own cache. Leave it out.`,
			);
		}
		return { kind: "embedded", folder, demo };
	}
	if (given("CORKBOARD_DATA") !== undefined) {
		problems.push(
			"CORKBOARD_TOPOLOGY and CORKBOARD_DATA must not both be given: a topology names its hosts. Leave one of them out.",
		);
	}
	const location = parseTopologyLocation(file);
	if (location === undefined) {
		problems.push(
			"CORKBOARD_TOPOLOGY must be the path of a file, or servers of ZooKeeper as in zk://host:2181,host:2181/corkboard, without options.",
		);
		return { kind: "embedded", folder, demo: false };
	}
	const name = topologyName(location);
	const copy = valueOr(
		"CORKBOARD_TOPOLOGY_COPY",
		location.scheme === "file"
			? `${location.file}.kept`
			: `topology-${fnv1a(name).toString(16)}.kept`,
	);
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
	value,
	problems,
}: Settings): Config["persistedDocuments"] {
	const mode = value("CORKBOARD_DOCUMENTS");
	const files = value("CORKBOARD_DOCUMENT_FILES");
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

function secretsOf(
	{ given, problems }: Settings,
	isNeeded: boolean,
): Secrets | null {
	const text = given("CORKBOARD_SECRET");
	if (text === undefined) {
		if (isNeeded) {
			problems.push(
				`CORKBOARD_SECRET is missing. With a topology all servers must share a secret of at least ${SECRET_BYTES} bytes.`,
			);
		}
		return null;
	}
	const parsed = parseSecrets(text);
	if (!("fault" in parsed)) return parsed.secrets;
	problems.push(`CORKBOARD_SECRET ${parsed.fault}.`);
	return null;
}

function budgetLimitOf(
	{ value, problems }: Settings,
	maxCost: number,
): Config["budgetLimit"] {
	const budget = value("CORKBOARD_BUDGET");
	if (budget === null) return null;
	const { requests: points, perMs } = budget;
	if (points < maxCost) {
		problems.push(
			`CORKBOARD_BUDGET must be at least CORKBOARD_MAX_COST, else some operations could never run, got ${points} and ${maxCost}.`,
		);
	}
	return { points, perMs };
}

/** HTTP responses, and limits that apply before a request is parsed. */
function httpOf(
	{ value, valueOr }: Settings,
	defaultRate: typeof RATE_LIMIT | null,
	defaultDelayMs: number,
) {
	return {
		status: value("CORKBOARD_HTTP_STATUS"),
		// Seconds.
		maxAge: value("CORKBOARD_HTTP_MAX_AGE"),
		compression: value("CORKBOARD_COMPRESSION"),
		// Per address; null: unlimited.
		rateLimit: valueOr("CORKBOARD_RATE_LIMIT", defaultRate),
		maxRequestsInProgress: value("CORKBOARD_MAX_REQUESTS_IN_PROGRESS"),
		// From the signal to stop until it refuses requests: it says that it is not ready, and serves.
		shutdownDelayMs: valueOr("CORKBOARD_SHUTDOWN_DELAY", defaultDelayMs),
		requestIdHeader: value("CORKBOARD_REQUEST_ID"),
	};
}

/** Which access tokens are accepted. */
function identityOf({ value, problems }: Settings) {
	// Null: Corkboard signs tokens with the secret.
	const jwks = value("CORKBOARD_JWKS");
	const claims = {
		issuer: value("CORKBOARD_ISSUER"),
		audience: value("CORKBOARD_AUDIENCE"),
		subject: value("CORKBOARD_SUBJECT_CLAIM"),
	};
	if (jwks !== null && (claims.issuer === null || claims.audience === null)) {
		problems.push(
			"CORKBOARD_JWKS needs CORKBOARD_ISSUER and CORKBOARD_AUDIENCE: the issuer signs tokens for other services too.",
		);
	}
	return {
		jwks,
		jwksMaxAgeMs: value("CORKBOARD_JWKS_MAX_AGE") * 60_000,
		claims,
		operators: value("CORKBOARD_OPERATORS"),
	};
}

/** Settings of the home feed. */
function feedOf({ value, valueOr }: Settings) {
	return {
		// Null: on if there are pools, which an embedded folder has.
		isOn: valueOr("CORKBOARD_FEED", null),
		unfollow: value("CORKBOARD_FEED_UNFOLLOW"),
		pushLimit: value("CORKBOARD_FEED_PUSH_LIMIT"),
	};
}
