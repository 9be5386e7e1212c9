import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfig } from "../src/config/config.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

/** The message of the error that this environment is refused with, line by line. */
function faultsOf(environment: Record<string, string>): readonly string[] {
	try {
		readConfig(environment);
	} catch (error) {
		assert.ok(error instanceof Error);
		assert.equal((error as { code?: string }).code, "BAD_CONFIG");
		return error.message.split("\n");
	}
	return [];
}

describe("readConfig", () => {
	test("serves the embedded folder in development mode where nothing is set", () => {
		assert.deepEqual(readConfig({ PATH: "/bin", NODE_ENV: "production" }), {
			host: "127.0.0.1",
			port: 4000,
			mode: "development",
			store: { kind: "embedded", folder: "data", demo: true },
			memcached: [],
			cacheBytes: 64 * 1_048_576,
			answerCacheBytes: 64 * 1_048_576,
			admin: null,
			metricsDocuments: 100,
			slowMs: 500,
			traces: null,
			usageDays: 90,
			ranker: null,
			feedFreshen: "query",
			worker: { inServe: true, concurrency: 10, queues: null },
			feed: { isOn: null, unfollow: "remove", pushLimit: 5_000 },
			redis: null,
			secrets: null,
			graphiql: "everyone",
			identity: {
				jwks: null,
				jwksMaxAgeMs: 86_400_000,
				claims: { issuer: null, audience: null, subject: "sub" },
				operators: { ids: new Set(), claims: [] },
			},
			budgetLimit: null,
			maxCost: 60_000,
			cors: [],
			log: { level: "info", format: "text" },
			trustProxy: false,
			persistedDocuments: { mode: "off", files: [] },
			http: {
				status: "audit",
				maxAge: 10,
				compression: true,
				rateLimit: null,
				maxRequestsInProgress: 500,
				shutdownDelayMs: 0,
				requestIdHeader: null,
			},
		});
	});

	test("is in production mode, on all addresses, without GraphiQL where a topology is given", () => {
		assert.deepEqual(
			readConfig({
				CORKBOARD_TOPOLOGY: "/etc/shards.json",
				CORKBOARD_SECRET: SECRET,
			}),
			{
				host: "0.0.0.0",
				port: 4000,
				mode: "production",
				store: {
					kind: "topology",
					name: "/etc/shards.json",
					location: { scheme: "file", file: "/etc/shards.json" },
					copy: "/etc/shards.json.kept",
				},
				memcached: [],
				cacheBytes: 64 * 1_048_576,
				answerCacheBytes: 64 * 1_048_576,
				admin: null,
				metricsDocuments: 100,
				slowMs: 500,
				traces: null,
				usageDays: 90,
				ranker: null,
				feedFreshen: "query",
				worker: { inServe: false, concurrency: 10, queues: null },
				feed: { isOn: null, unfollow: "remove", pushLimit: 5_000 },
				redis: null,
				secrets: [Buffer.from(SECRET)],
				graphiql: "nobody",
				identity: {
					jwks: null,
					jwksMaxAgeMs: 86_400_000,
					claims: { issuer: null, audience: null, subject: "sub" },
					operators: { ids: new Set(), claims: [] },
				},
				budgetLimit: null,
				maxCost: 60_000,
				cors: [],
				log: { level: "info", format: "json" },
				trustProxy: false,
				persistedDocuments: { mode: "off", files: [] },
				http: {
					status: "audit",
					maxAge: 10,
					compression: true,
					rateLimit: null,
					maxRequestsInProgress: 500,
					shutdownDelayMs: 5_000,
					requestIdHeader: null,
				},
			},
		);
	});

	test("takes every setting as it is given", () => {
		assert.deepEqual(
			readConfig({
				HOST: "::1",
				PORT: "0",
				CORKBOARD_MODE: "production",
				CORKBOARD_DATA: "elsewhere",
				CORKBOARD_DEMO: "off",
				CORKBOARD_CACHE_MB: "256",
				CORKBOARD_ANSWER_CACHE_MB: "8",
				CORKBOARD_SECRET: SECRET,
				CORKBOARD_GRAPHIQL: "on",
				CORKBOARD_JWKS: "https://id.example.com/keys",
				CORKBOARD_JWKS_MAX_AGE: "60",
				CORKBOARD_ISSUER: "https://id.example.com",
				CORKBOARD_AUDIENCE: "corkboard",
				CORKBOARD_SUBJECT_CLAIM: "user_id",
				CORKBOARD_OPERATORS:
					"241294492511762325, roles=operator,https://example.com/?a=b=on-call",
				CORKBOARD_MAX_COST: "7",
				CORKBOARD_BUDGET: "200/minute",
				CORKBOARD_CORS: "https://example.com, http://localhost:3000",
				CORKBOARD_LOG: "text,debug",
				CORKBOARD_TRUST_PROXY: "127.0.0.1,10.0.0.0/8,fd00::/8",
				CORKBOARD_DOCUMENTS: "strict",
				CORKBOARD_DOCUMENT_FILES: "web.json, ios.json",
				CORKBOARD_HTTP_STATUS: "draft",
				CORKBOARD_HTTP_MAX_AGE: "0",
				CORKBOARD_COMPRESSION: "off",
				CORKBOARD_RATE_LIMIT: "50/second",
				CORKBOARD_MAX_REQUESTS_IN_PROGRESS: "9",
				CORKBOARD_SHUTDOWN_DELAY: "12",
				CORKBOARD_REQUEST_ID: "X-Request-Id",
				CORKBOARD_ADMIN: "[::1]:9464",
				CORKBOARD_METRICS_DOCUMENTS: "7",
				CORKBOARD_SLOW: "off",
				OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example.com/",
				OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
				OTEL_TRACES_SAMPLER_ARG: "0.01",
				OTEL_BSP_MAX_QUEUE_SIZE: "256",
				CORKBOARD_USAGE_DAYS: "30",
				CORKBOARD_WORKER: "off",
				CORKBOARD_WORKER_CONCURRENCY: "3",
				CORKBOARD_WORKER_QUEUES: "archive, other",
				CORKBOARD_FEED: "off",
				CORKBOARD_FEED_UNFOLLOW: "keep",
				CORKBOARD_FEED_PUSH_LIMIT: "100",
			}),
			{
				host: "::1",
				port: 0,
				mode: "production",
				store: { kind: "embedded", folder: "elsewhere", demo: false },
				memcached: [],
				cacheBytes: 256 * 1_048_576,
				answerCacheBytes: 8 * 1_048_576,
				admin: { host: "::1", port: 9464 },
				metricsDocuments: 7,
				slowMs: null,
				traces: {
					url: "https://collector.example.com/v1/traces",
					timeoutMs: 3_000,
					sampler: { ratio: 0.01, followsParent: true },
					readsParent: true,
					batch: {
						scheduledDelayMillis: 5_000,
						exportTimeoutMillis: 30_000,
						maxQueueSize: 256,
						maxExportBatchSize: 256,
					},
				},
				usageDays: 30,
				ranker: null,
				feedFreshen: "query",
				worker: {
					inServe: false,
					concurrency: 3,
					queues: ["archive", "other"],
				},
				feed: { isOn: false, unfollow: "keep", pushLimit: 100 },
				redis: null,
				secrets: [Buffer.from(SECRET)],
				graphiql: "everyone",
				identity: {
					jwks: "https://id.example.com/keys",
					jwksMaxAgeMs: 3_600_000,
					claims: {
						issuer: "https://id.example.com",
						audience: "corkboard",
						subject: "user_id",
					},
					operators: {
						ids: new Set(["241294492511762325"]),
						claims: [
							{ name: "roles", value: "operator" },
							{ name: "https://example.com/?a=b", value: "on-call" },
						],
					},
				},
				maxCost: 7,
				budgetLimit: { points: 200, perMs: 60_000 },
				cors: ["https://example.com", "http://localhost:3000"],
				log: { level: "debug", format: "text" },
				trustProxy: "127.0.0.1,10.0.0.0/8,fd00::/8",
				persistedDocuments: { mode: "strict", files: ["web.json", "ios.json"] },
				http: {
					status: "draft",
					maxAge: 0,
					compression: false,
					rateLimit: { requests: 50, perMs: 1_000 },
					maxRequestsInProgress: 9,
					shutdownDelayMs: 12_000,
					requestIdHeader: "x-request-id",
				},
			},
		);
	});

	test("takes as much memory as packed entries have places in", () => {
		const most = { CORKBOARD_CACHE_MB: "16384" };
		const { cacheBytes } = readConfig(most);
		assert.ok(cacheBytes / Uint32Array.BYTES_PER_ELEMENT <= 2 ** 32);
		assert.deepEqual(faultsOf({ CORKBOARD_CACHE_MB: "16385" }), [
			'CORKBOARD_CACHE_MB must be an integer from 0 to 16384, got "16385".',
		]);
	});

	test("reports every problem, with the expected and the given value", () => {
		assert.deepEqual(
			faultsOf({
				PORT: "65536",
				CORKBOARD_MODE: "test",
				CORKBOARD_DEMO: "no",
				CORKBOARD_SECRET: "short",
				CORKBOARD_GRAPHIQL: "true",
				CORKBOARD_OPERATORS: "everybody",
				CORKBOARD_JWKS: "http://id.example.com/keys",
				CORKBOARD_BUDGET: "many",
				CORKBOARD_MAX_COST: "0",
				CORKBOARD_CORS: "https://example.com/path",
				CORKBOARD_LOG: "info,debug",
				CORKBOARD_TRUST_PROXY: "everybody",
				CORKBOARD_DOCUMENTS: "on",
				CORKBOARD_HTTP_STATUS: "200",
				CORKBOARD_HTTP_MAX_AGE: "-1",
				CORKBOARD_COMPRESSION: "gzip",
				CORKBOARD_RATE_LIMIT: "600",
				CORKBOARD_REQUEST_ID: "a b",
			}),
			[
				'CORKBOARD_MODE must be development or production, got "test".',
				'CORKBOARD_DOCUMENTS must be off, report or strict, got "on".',
				'CORKBOARD_JWKS must be an https address (http only for this machine), got "http://id.example.com/keys".',
				'CORKBOARD_OPERATORS must be user ids, or claims of tokens such as roles=operator, separated by commas, got "everybody".',
				'CORKBOARD_TRUST_PROXY must be off, on, or addresses and networks separated by commas, got "everybody".',
				'CORKBOARD_MAX_COST must be an integer from 1 to 1000000000, got "0".',
				'PORT must be a port from 0 to 65535, got "65536".',
				'CORKBOARD_DEMO must be on or off, got "no".',
				"CORKBOARD_SECRET must have at least 32 bytes, got 5.",
				'CORKBOARD_GRAPHIQL must be on or off, got "true".',
				'CORKBOARD_BUDGET must be off, or the most that one viewer or address may read per second, minute or hour, such as 500000/minute, got "many".',
				'CORKBOARD_CORS must be origins separated by commas, such as https://example.com, or off, got "https://example.com/path".',
				'CORKBOARD_LOG must be a level (fatal, error, warn, info, debug, trace, silent), a format (text, json), or both separated by a comma, got "info,debug".',
				'CORKBOARD_HTTP_STATUS must be audit or draft, got "200".',
				'CORKBOARD_HTTP_MAX_AGE must be seconds from 0 to 31536000, got "-1".',
				'CORKBOARD_COMPRESSION must be on or off, got "gzip".',
				'CORKBOARD_RATE_LIMIT must be off, or requests of one address per second, minute or hour, such as 600/minute, got "600".',
				'CORKBOARD_REQUEST_ID must be off, or the name of a header such as x-request-id, got "a b".',
			],
		);
	});

	test("rejects an unknown setting, and suggests the nearest one", () => {
		assert.deepEqual(faultsOf({ CORKBOARD_TOPOLGY: "x", CORKBOARD_ZZZZ: "" }), [
			"CORKBOARD_TOPOLGY is not a setting. Did you mean CORKBOARD_TOPOLOGY?",
			"CORKBOARD_ZZZZ is not a setting.",
		]);
		assert.deepEqual(faultsOf({ CORKBOARD_PORT: "4000" }), [
			"CORKBOARD_PORT is not a setting. Did you mean PORT?",
		]);
	});

	test("takes memcached and Redis with a topology", () => {
		const config = readConfig({
			CORKBOARD_TOPOLOGY: "shards.json",
			CORKBOARD_SECRET: "s".repeat(32),
			CORKBOARD_MEMCACHED: "10.0.0.1:11211, cache-2:11211,[::1]:11211",
			CORKBOARD_REDIS: "redis://:word@10.0.0.2:6379/1",
		});
		assert.deepEqual(config.memcached, [
			"10.0.0.1:11211",
			"cache-2:11211",
			"[::1]:11211",
		]);
		assert.equal(config.redis, "redis://:word@10.0.0.2:6379/1");
	});

	test("rejects invalid addresses, and does not repeat a password", () => {
		const faults = faultsOf({
			CORKBOARD_TOPOLOGY: "shards.json",
			CORKBOARD_SECRET: "s".repeat(32),
			CORKBOARD_MEMCACHED: "cache-1:11211,cache-2",
			CORKBOARD_REDIS: "http://:word@10.0.0.2",
		});
		assert.deepEqual(faults, [
			'CORKBOARD_MEMCACHED must be host:port, separated by commas, without options, got "cache-1:11211,cache-2".',
			"CORKBOARD_REDIS: it must look like redis://cache1.example.com:6379.",
		]);
	});

	test("rejects options that an address does not have, and says which it has", () => {
		const ofRedis = (url: string) =>
			faultsOf({
				CORKBOARD_TOPOLOGY: "shards.json",
				CORKBOARD_SECRET: "s".repeat(32),
				CORKBOARD_REDIS: url,
			});
		assert.deepEqual(ofRedis("rediss://:word@a:1/2?ssl-ca=ca.pem"), []);
		for (const [url, fault] of [
			[
				"rediss://a?tls-ca=ca.pem",
				'it has "tls-ca", which does not exist: its options are ssl-ca, password-file',
			],
			[
				"redis://a?sentinel=1",
				'it has "sentinel", which does not exist: its options are ssl-ca, password-file',
			],
			[
				"redis://a:1?word@b",
				"it has an option, which does not exist: its options are ssl-ca, password-file",
			],
			["rediss://a?ssl-ca=1&ssl-ca=2", 'it has "ssl-ca" twice'],
			[
				"rediss://a?ssl-ca=",
				"ssl-ca must be the path of a file with certificates",
			],
			[
				"redis://a?ssl-ca=ca.pem",
				"ssl-ca needs rediss://: redis:// is not encrypted",
			],
			[
				"redis://me:100%@a",
				"a % in its user or password must be written as %25",
			],
		] as const) {
			assert.deepEqual(ofRedis(url), [`CORKBOARD_REDIS: ${fault}.`]);
		}
		const secret = { CORKBOARD_SECRET: "s".repeat(32) };
		for (const [name, value] of [
			["CORKBOARD_MEMCACHED", "a:11211?tls=on"],
			["CORKBOARD_TOPOLOGY", "zk://a:2181/corkboard?digest=x"],
		] as const) {
			const [fault] = faultsOf({
				CORKBOARD_TOPOLOGY: "shards.json",
				...secret,
				[name]: value,
			});
			assert.match(
				fault ?? "",
				new RegExp(`^${name} must be .*without options`),
			);
		}
	});

	test("rejects memcached and Redis for an embedded folder", () => {
		const reason =
			"needs CORKBOARD_TOPOLOGY: the one process that owns an embedded folder has its own cache. Leave it out.";
		assert.deepEqual(
			faultsOf({
				CORKBOARD_MEMCACHED: "127.0.0.1:11211",
				CORKBOARD_REDIS: "redis://127.0.0.1",
			}),
			[`CORKBOARD_MEMCACHED ${reason}`, `CORKBOARD_REDIS ${reason}`],
		);
	});

	test("requires a secret with a topology, except for commands that need none", () => {
		const environment = { CORKBOARD_TOPOLOGY: "shards.json" };
		assert.deepEqual(faultsOf(environment), [
			"CORKBOARD_SECRET is missing. With a topology all servers must share a secret of at least 32 bytes.",
		]);
		assert.equal(readConfig(environment, { secret: "unneeded" }).secrets, null);
	});

	test("requires issuer and audience with external keys, and a budget of at least the maximum cost", () => {
		assert.deepEqual(faultsOf({ CORKBOARD_JWKS: "http://localhost/keys" }), [
			"CORKBOARD_JWKS needs CORKBOARD_ISSUER and CORKBOARD_AUDIENCE: the issuer signs tokens for other services too.",
		]);
		assert.deepEqual(faultsOf({ CORKBOARD_BUDGET: "1000/minute" }), [
			"CORKBOARD_BUDGET must be at least CORKBOARD_MAX_COST, else some operations could never run, got 1000 and 60000.",
		]);
	});

	test("requires document files in the modes report and strict, and rejects them otherwise", () => {
		assert.deepEqual(faultsOf({ CORKBOARD_DOCUMENTS: "strict" }), [
			"CORKBOARD_DOCUMENTS=strict needs CORKBOARD_DOCUMENT_FILES: paths, separated by commas.",
		]);
		assert.deepEqual(faultsOf({ CORKBOARD_DOCUMENT_FILES: "web.json" }), [
			"CORKBOARD_DOCUMENT_FILES needs CORKBOARD_DOCUMENTS=report or strict.",
		]);
	});

	test("serves GraphiQL to everyone in development, and to operators where it is not for everyone", () => {
		const audience = (environment: Record<string, string>) =>
			readConfig(environment).graphiql;
		const production = { CORKBOARD_MODE: "production" };
		const strict = {
			CORKBOARD_DOCUMENTS: "strict",
			CORKBOARD_DOCUMENT_FILES: "web.json",
		};
		const operated = { CORKBOARD_OPERATORS: "roles=operator" };
		assert.equal(audience({}), "everyone");
		assert.equal(audience(operated), "everyone");
		assert.equal(audience(strict), "nobody");
		assert.equal(audience({ ...strict, ...operated }), "operators");
		assert.equal(audience(production), "nobody");
		assert.equal(audience({ ...production, ...operated }), "operators");
		for (const environment of [strict, production]) {
			const shown = { ...environment, ...operated };
			assert.equal(
				audience({ ...shown, CORKBOARD_GRAPHIQL: "on" }),
				"everyone",
			);
			assert.equal(audience({ ...shown, CORKBOARD_GRAPHIQL: "off" }), "nobody");
		}
	});

	test("limits the rate of addresses in production where they are the clients' own", () => {
		const limit = (environment: Record<string, string>) =>
			readConfig(environment).http.rateLimit;
		const production = { CORKBOARD_MODE: "production" };
		const proxied = { ...production, CORKBOARD_TRUST_PROXY: "10.0.0.0/8" };
		assert.deepEqual(limit(proxied), { requests: 600, perMs: 60_000 });
		assert.equal(limit(production), null);
		assert.equal(limit({ CORKBOARD_TRUST_PROXY: "on" }), null);
		assert.equal(limit({ ...proxied, CORKBOARD_RATE_LIMIT: "off" }), null);
		assert.deepEqual(limit({ CORKBOARD_RATE_LIMIT: "9/hour" }), {
			requests: 9,
			perMs: 3_600_000,
		});
	});

	test("trusts proxies by valid addresses and networks", () => {
		for (const given of ["1.2.3.4/99", "...", ":::", "fd00::/129", "1.2.3"]) {
			assert.equal(faultsOf({ CORKBOARD_TRUST_PROXY: given }).length, 1, given);
		}
	});

	test("rejects a topology together with an embedded folder", () => {
		assert.deepEqual(
			faultsOf({
				CORKBOARD_TOPOLOGY: "shards.json",
				CORKBOARD_DATA: "data",
				CORKBOARD_SECRET: SECRET,
			}),
			[
				"CORKBOARD_TOPOLOGY and CORKBOARD_DATA must not both be given: a topology names its hosts. Leave one of them out.",
			],
		);
	});

	test("does not repeat a secret that is too short", () => {
		for (const secret of ["hunter2", `${SECRET},hunter2`, "hunter2,"]) {
			assert.doesNotMatch(
				faultsOf({ CORKBOARD_SECRET: secret }).join(),
				/hunter2/,
			);
		}
	});

	test("takes no key of a key pair as a secret, in whatever form", () => {
		const der = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0Z3VS5JJcds3xfn";
		const keys = [
			`-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----`,
			`-----BEGIN PUBLIC KEY-----\\n${der}\\n-----END PUBLIC KEY-----`,
			`-----BEGIN CERTIFICATE-----${der}-----END CERTIFICATE-----`,
			`ssh-rsa ${der} ada@example.com`,
			`{"kty":"RSA","n":"${der}","e":"AQAB"}`,
		];
		for (const key of keys) {
			for (const secret of [key, `${SECRET},${key}`]) {
				const [fault = ""] = faultsOf({ CORKBOARD_SECRET: secret });
				assert.match(fault, /must be random text, and not a key pair's half/);
				assert.doesNotMatch(fault, /MIIB/);
			}
		}
	});

	test("takes several secrets, and says which of them is too short", () => {
		const former = "f".repeat(32);
		assert.deepEqual(
			readConfig({ CORKBOARD_SECRET: `${SECRET}, ${former}` }).secrets,
			[Buffer.from(SECRET), Buffer.from(former)],
		);
		assert.deepEqual(faultsOf({ CORKBOARD_SECRET: `${SECRET},hunter2` }), [
			"CORKBOARD_SECRET must have at least 32 bytes in each value, got 7 in value 2 of 2. A comma separates two values.",
		]);
	});
});
