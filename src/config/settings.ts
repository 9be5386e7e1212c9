export interface Setting {
	readonly name: string;
	readonly meaning: string;
	/** In words. */
	readonly default: string;
}

/** All settings. docs/configuration.md describes each. */
export const SETTINGS: readonly Setting[] = (
	[
		["PORT", "port to listen on", "4000"],
		[
			"HOST",
			"address to listen on",
			"127.0.0.1 embedded, 0.0.0.0 with a topology",
		],
		[
			"CORKBOARD_MODE",
			"development or production",
			"production with a topology, else development",
		],
		[
			"CORKBOARD_TOPOLOGY",
			"path of the topology file, or zk://host:port,host:port/path",
			"none: embedded",
		],
		[
			"CORKBOARD_TOPOLOGY_COPY",
			"path of the copy of the last good topology",
			"beside the file; for ZooKeeper in the working directory",
		],
		[
			"CORKBOARD_TOPOLOGY_AUTH_FILE",
			"path of a file with user:password for ZooKeeper",
			"none",
		],
		[
			"CORKBOARD_MYSQL_FILE",
			"file with user and password of MySQL hosts whose URL has none",
			"none",
		],
		[
			"CORKBOARD_ADMIN_FILE",
			"the same for the commands that change a fleet",
			"CORKBOARD_MYSQL_FILE, or the URL's",
		],
		["CORKBOARD_DATA", "embedded data folder", "data"],
		[
			"CORKBOARD_DEMO",
			"whether an empty embedded folder gets the demo graph",
			"on",
		],
		["CORKBOARD_MEMCACHED", "memcached hosts, for objects", "none"],
		[
			"CORKBOARD_REDIS",
			"URL of Redis, for list heads, invalidations and shared limits",
			"none",
		],
		[
			"CORKBOARD_CACHE_MB",
			"size of the cache in each process, about; 0: none",
			"96",
		],
		[
			"CORKBOARD_ANSWER_CACHE_MB",
			"size of the cache of whole answers in each process, about; 0: none",
			"16",
		],
		[
			"CORKBOARD_SECRET",
			"signs access tokens and encrypts cursors",
			"embedded: created in the data folder; required with a topology",
		],
		[
			"CORKBOARD_JWKS",
			"URL of the public keys of an external token issuer",
			"none",
		],
		["CORKBOARD_ISSUER", "required issuer of tokens", "not checked"],
		["CORKBOARD_AUDIENCE", "required audience of tokens", "not checked"],
		["CORKBOARD_SUBJECT_CLAIM", "claim of a token that names the user", "sub"],
		[
			"CORKBOARD_OPERATORS",
			"operators, by user id or by a claim of their tokens",
			"none",
		],
		[
			"CORKBOARD_GRAPHIQL",
			"whether GraphiQL is served to everyone or nobody",
			"everyone in development; else operators, if there are any",
		],
		[
			"CORKBOARD_MAX_COST",
			"most edges and objects that one operation may read",
			"60000",
		],
		[
			"CORKBOARD_BUDGET",
			"most edges and objects that one viewer or address may read per period",
			"off",
		],
		["CORKBOARD_CORS", "allowed origins", "localhost in development"],
		[
			"CORKBOARD_LOG",
			"log level and format",
			"info; text in development, json in production",
		],
		[
			"CORKBOARD_TRUST_PROXY",
			"proxies whose X-Forwarded-* headers are trusted",
			"off",
		],
		[
			"CORKBOARD_DOCUMENTS",
			"whether persisted documents are reported on or required",
			"off",
		],
		["CORKBOARD_DOCUMENT_FILES", "files of persisted documents", "none"],
		[
			"CORKBOARD_HTTP_STATUS",
			"version of GraphQL over HTTP that status codes follow",
			"audit",
		],
		[
			"CORKBOARD_HTTP_MAX_AGE",
			"seconds that HTTP caches may keep a public response",
			"10",
		],
		["CORKBOARD_COMPRESSION", "whether responses are compressed", "on"],
		[
			"CORKBOARD_RATE_LIMIT",
			"requests per address and period",
			"600/minute in production behind a trusted proxy, else off",
		],
		[
			"CORKBOARD_MAX_REQUESTS_IN_PROGRESS",
			"requests that one process carries out at a time",
			"500",
		],
		[
			"CORKBOARD_SHUTDOWN_DELAY",
			"seconds from the signal to stop until requests are refused; not ready meanwhile",
			"5 in production, else 0",
		],
		[
			"CORKBOARD_REQUEST_ID",
			"header with a proxy's request id",
			"off: own ids",
		],
		["CORKBOARD_ADMIN", "host:port to serve metrics on", "none"],
		[
			"CORKBOARD_METRICS_DOCUMENTS",
			"known documents with metrics of their own",
			"100",
		],
		[
			"CORKBOARD_SLOW",
			"milliseconds after which a request is logged with its plan",
			"500",
		],
		[
			"CORKBOARD_USAGE_DAYS",
			"days that the use of fields and documents is kept",
			"90",
		],
		[
			"CORKBOARD_WORKER",
			"whether serve runs jobs",
			"on embedded, off with a topology",
		],
		[
			"CORKBOARD_WORKER_CONCURRENCY",
			"jobs that one process runs at the same time",
			"10",
		],
		["CORKBOARD_RANKER", "file that ranks what home feeds show", "built in"],
		[
			"CORKBOARD_FEED_FRESHEN",
			"what adds to a home feed: reading it, or only the mutation",
			"query",
		],
		["CORKBOARD_WORKER_QUEUES", "queues whose jobs are run", "all"],
		[
			"CORKBOARD_FEED",
			"whether there are home feeds",
			"on embedded; with a topology if it has pools",
		],
		[
			"CORKBOARD_FEED_UNFOLLOW",
			"what becomes of home feeds on an unfollow: remove or keep what was shown",
			"remove",
		],
		[
			"CORKBOARD_FEED_PUSH_LIMIT",
			"size of an audience above which nothing is pushed to home feeds",
			"5000",
		],
	] as const
).map(([name, meaning, whenMissing]) => ({
	name,
	meaning,
	default: whenMissing,
}));
