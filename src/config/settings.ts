import type { Id } from "../id/ids.ts";
import { derived, fixed, optional, type Setting } from "./declare.ts";
import { JOBS } from "./feedSettings.ts";
import {
	address,
	headerName,
	hosts,
	integer,
	jwksUrl,
	list,
	log,
	oneOf,
	onOff,
	operators,
	origins,
	path,
	proxies,
	rate,
	seconds,
	slowMs,
	text,
} from "./kinds.ts";
import { TRACES } from "./traceSettings.ts";

const ADDRESS = {
	PORT: fixed(
		integer(0, 65_535, "a port from 0 to 65535"),
		4_000,
		"port to listen on; 0: any free one",
	),
	HOST: derived(
		text("an address"),
		"address to listen on",
		"127.0.0.1 embedded, 0.0.0.0 with a topology",
	),
	CORKBOARD_MODE: derived(
		oneOf("development", "production"),
		"`development` or `production`. Production turns off introspection, suggestions, explain and GraphiQL for everyone but operators. `NODE_ENV` is not read",
		"`production` with a topology, else `development`",
	),
	CORKBOARD_GRAPHIQL: derived(
		onOff,
		"`on`: for everyone; `off`: for nobody",
		"in development: everyone. In production, and if documents are `strict`: operators, who sign in with a token",
	),
} as const;

const DATA = {
	CORKBOARD_APP: optional(
		path,
		"folder of the app, whose `app.ts` exports what `defineApp` returns ([your own graph](../how-to/schema.md)); `--app DIR` takes precedence",
		"the app that comes with the program",
	),
	CORKBOARD_TOPOLOGY: derived(
		text(
			"the path of a file, or servers of ZooKeeper as in zk://host:2181,host:2181/corkboard",
		),
		"where the shard map is ([operations](../how-to/shard-map.md#the-shard-map)): path of a file, or `zk://host:port,host:port/path`",
		"none: embedded",
	),
	CORKBOARD_TOPOLOGY_COPY: derived(
		path,
		"path of this process's copy of the last good map, with its passwords (mode 0600)",
		"`FILE.kept`; for ZooKeeper `topology-HASH.kept` in the working directory",
	),
	CORKBOARD_TOPOLOGY_AUTH_FILE: derived(
		path,
		"path of a file with `user:password` for ZooKeeper's `digest` scheme: then only that user may read and write the map",
		"none: everybody may",
	),
	CORKBOARD_MYSQL_FILE: derived(
		path,
		'path of a JSON file, `{"user": "corkboard", "password": "…"}`: the account at MySQL hosts whose URL in the topology has none. It is read again for each new connection',
		"none",
	),
	CORKBOARD_ADMIN_FILE: derived(
		path,
		"path of such a JSON file with the operator's account: commands that change a fleet use it, at every host",
		"that of `CORKBOARD_MYSQL_FILE`, or of the URL",
	),
	CORKBOARD_DATA: fixed(
		path,
		"data",
		"embedded data folder, of one process at a time. Not with a topology",
	),
	CORKBOARD_DEMO: fixed(
		onOff,
		true,
		"`off`: no demo graph. It is made only in an empty embedded folder",
	),
	CORKBOARD_MEMCACHED: fixed(
		hosts,
		[],
		"`host:port,…`: cache for objects. It needs a topology. It has no TLS: keep it on a private network",
		"none",
	),
	CORKBOARD_REDIS: derived(
		text("an address such as redis://host:6379 or rediss://host:6379"),
		"URL of Redis: `redis://:PASSWORD@host:6379`, or with TLS `rediss://…[?ssl-ca=FILE]`. The password may be in a file (`?password-file=FILE`). Redis is the cache for list heads, the channel of invalidations, and the home of shared limits. It needs a topology. On MySQL, a process without Redis has no in-process cache",
		"none",
	),
	CORKBOARD_CACHE_MB: fixed(
		// Packed entries have their place as a number of 32 bits.
		integer(0, 16_384),
		64,
		"approximate memory for objects, heads of lists and lookups in the process; 0: none is kept ([memory](#memory))",
	),
	CORKBOARD_ANSWER_CACHE_MB: fixed(
		integer(0, 65_536),
		64,
		"the same for whole [answers](../consistency/caches.md#answers-that-are-used-again), which take as much of it as they serve of the requests; 0: none is kept",
	),
} as const;

const IDENTITY = {
	CORKBOARD_SECRET: derived(
		text("at least 32 bytes"),
		"at least 32 bytes. It signs access tokens (HS256) and encrypts cursors. Several values are separated by commas: the first signs, all are accepted ([rotate it](../how-to/rotate-the-secret.md))",
		"embedded: made in `data/secret`, which may hold several too; required with a topology",
	),
	CORKBOARD_JWKS: optional(
		jwksUrl,
		"URL of the public keys of another token issuer ([identity](../guarantees.md#identity)). It needs the next two",
		"none",
	),
	CORKBOARD_JWKS_MAX_AGE: fixed(
		integer(10, 43_200),
		1_440,
		"minutes for which fetched keys are used while the issuer is away. After that, new tokens get 503. A key that the issuer withdraws while it is away is accepted for as long",
	),
	CORKBOARD_ISSUER: optional(
		text("the issuer of tokens"),
		"required value of a token's `iss`",
		"not checked",
	),
	CORKBOARD_AUDIENCE: optional(
		text("the audience of tokens"),
		"required value of a token's `aud`",
		"not checked",
	),
	CORKBOARD_SUBJECT_CLAIM: fixed(
		text("the name of a claim"),
		"sub",
		"the claim that names the user, by id or linked account",
	),
	CORKBOARD_OPERATORS: fixed(
		operators,
		{ ids: new Set<Id>(), claims: [] },
		"operators, separated by commas: user ids, or claims of their tokens such as `roles=operator`",
		"none",
	),
} as const;

const LIMITS = {
	CORKBOARD_MAX_COST: fixed(
		integer(1, 1_000_000_000),
		60_000,
		"the most edges and objects that one operation may read",
	),
	CORKBOARD_BUDGET: fixed(
		rate(
			"off, or the most that one viewer or address may read per second, minute or hour, such as 500000/minute",
		),
		null,
		"the most edges and objects that one viewer or address may read, such as `500000/minute` (`/second`, `/minute` or `/hour`; at least `CORKBOARD_MAX_COST`; [budgets](limits.md#budgets))",
		"`off`",
	),
	CORKBOARD_RATE_LIMIT: derived(
		rate(
			"off, or requests of one address per second, minute or hour, such as 600/minute",
		),
		"requests per address (IPv6: per /64), such as `600/minute`, or `off`. With Redis all processes count together",
		"`600/minute` in production with `CORKBOARD_TRUST_PROXY`, else `off`: behind a proxy that is not trusted all clients have one address",
	),
	CORKBOARD_MAX_REQUESTS_IN_PROGRESS: fixed(
		integer(1, 1_000_000),
		500,
		"the most GraphQL requests that run at once in one process; four times as many may wait ([limits](limits.md#load))",
	),
	CORKBOARD_TRUST_PROXY: fixed(
		proxies,
		false,
		"whether to trust `X-Forwarded-*`: `on` if all requests pass one proxy; if there are several, their addresses and networks",
	),
} as const;

const HTTP = {
	CORKBOARD_CORS: fixed(
		origins,
		[],
		"allowed origins, separated by commas, or `off`; in development localhost too. Any request header is allowed from them; cookies are ignored",
		"none",
	),
	CORKBOARD_HTTP_STATUS: fixed(
		oneOf("audit", "draft"),
		"audit",
		"`audit`: status codes as the audits of graphql-http expect; `draft`: 422 and 294, as in the GraphQL over HTTP draft of 2026",
	),
	CORKBOARD_HTTP_MAX_AGE: fixed(
		integer(0, 31_536_000, "seconds from 0 to 31536000"),
		10,
		"seconds for which HTTP caches may keep the response to a GET that does not depend on the viewer",
	),
	CORKBOARD_COMPRESSION: fixed(
		onOff,
		true,
		"compresses responses of 1,400 bytes and more, by brotli or gzip at the fastest level",
	),
	CORKBOARD_SHUTDOWN_DELAY: derived(
		seconds(300),
		"seconds from SIGTERM until `serve` refuses requests. Meanwhile `/health/ready` answers 503, and requests are served ([signals](../how-to/install.md#signals-and-shutdown))",
		"5 in production, else 0",
	),
	CORKBOARD_REQUEST_ID: fixed(
		headerName,
		null,
		"header with a proxy's request id. It becomes `x-request-id` and appears in the log",
		"`off`: own ids",
	),
} as const;

const OPERATORS = {
	CORKBOARD_ADMIN: optional(
		address,
		"`host:port` for [metrics](metrics.md#metrics) and for probes of [health](../how-to/install.md#health). It asks for no token: keep it off the public network",
		"none",
	),
	CORKBOARD_USAGE_DAYS: fixed(
		integer(0, 400),
		90,
		"days that the use of fields and documents is kept ([usage](../how-to/persisted-documents.md#remove-a-field-or-a-document)), from 0 (it is not counted) to 400",
	),
	CORKBOARD_METRICS_DOCUMENTS: fixed(
		integer(0, 10_000),
		100,
		"how many of the most frequent known documents have metrics of their own",
	),
} as const;

const DOCUMENTS = {
	CORKBOARD_DOCUMENTS: fixed(
		oneOf("off", "report", "strict"),
		"off",
		"`off`; `report` or `strict` with `CORKBOARD_DOCUMENT_FILES` ([persisted documents](../how-to/persisted-documents.md))",
	),
	CORKBOARD_DOCUMENT_FILES: fixed(
		list("paths, separated by commas"),
		[],
		"files of persisted documents, separated by commas",
		"none",
	),
	CORKBOARD_SLOW: fixed(
		slowMs,
		500,
		"milliseconds: a request that takes longer is logged with its plan ([slow requests](../how-to/fleet-status.md#slow-requests)); `off`: none is logged",
	),
	CORKBOARD_LOG: derived(
		log,
		"a level, a format (`text`, `json`), or both with a comma",
		"`info`; json in production",
	),
} as const;

/** All settings, as docs/reference/configuration.md and `serve --help` list them. */
export const SECTIONS: readonly {
	readonly title: string;
	readonly settings: Readonly<Record<string, Setting<unknown>>>;
}[] = [
	{ title: "Address and mode", settings: ADDRESS },
	{ title: "Data", settings: DATA },
	{ title: "Identity", settings: IDENTITY },
	{ title: "Limits", settings: LIMITS },
	{ title: "HTTP", settings: HTTP },
	{ title: "Operators", settings: OPERATORS },
	{ title: "Jobs and home feeds", settings: JOBS },
	{ title: "Documents and log", settings: DOCUMENTS },
	{ title: "Traces", settings: TRACES },
];

/** Each setting once: what it may be, its default, what it is about. Parsing, --help and docs/reference/configuration.md follow from it. */
export const SETTINGS = {
	...ADDRESS,
	...DATA,
	...IDENTITY,
	...LIMITS,
	...HTTP,
	...OPERATORS,
	...JOBS,
	...DOCUMENTS,
	...TRACES,
} as const;
