import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import type {
	ExplainOutput,
	ExplainStep,
} from "../../src/plan/explain/explainOutput.ts";
import {
	type RequestCompleted,
	SERVER_CHANNELS,
} from "../../src/server/diagnostics.ts";
import { createLog } from "../../src/server/log.ts";
import { logEvents } from "../../src/server/logEvents.ts";
import { keepRequests } from "../../src/server/requests/keptRequests.ts";
import { logSlowRequests } from "../../src/server/requests/slowRequests.ts";
import { openTraces } from "../../src/traces/openTraces.ts";
import { createSampler } from "../../src/traces/sampler.ts";
import { sqlComment } from "../../src/traces/sqlComment.ts";
import { parentOf } from "../../src/traces/traceparent.ts";
import {
	childrenOf,
	type OtlpServer,
	type ReceivedSpan,
	startOtlpServer,
	treeOf,
} from "../helpers/otlpServer.ts";
import { command } from "../helpers/runCommand.ts";
import { type OwnReads, readsWith } from "../helpers/storageWith.ts";
import { until } from "../helpers/until.ts";
import { startWhole, type WholeServer } from "../helpers/wholeServer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SECRET = "hunter2-is-a-secret";

const USERS = "query Users($ids: [ID!]!) { nodes(ids: $ids) { id } }";

describe("a traced server", () => {
	let collector: OtlpServer;
	let server: WholeServer;
	let token: string;
	let id: string;
	before(async () => {
		collector = await startOtlpServer();
		server = await startWhole({
			CORKBOARD_MODE: "development",
			CORKBOARD_ADMIN: "127.0.0.1:0",
			CORKBOARD_SLOW: "300",
			CORKBOARD_REQUEST_ID: "x-amzn-trace-id",
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_BSP_SCHEDULE_DELAY: "20",
		});
		const made = await server.ask({
			query:
				'mutation Make { createUser(input: {username: "ada_made_up"}) { user { id } token } }',
		});
		({
			user: { id },
			token,
		} = JSON.parse(made.text).data.createUser);
	});
	after(async () => {
		await server?.[Symbol.asyncDispose]();
		await collector?.[Symbol.asyncDispose]();
	});

	/** Sends a request of a trace of its own, and waits for its spans. */
	let traces = 0;
	async function ask(
		query: string,
		{
			variables = {},
			headers = {},
		}: {
			readonly variables?: Record<string, unknown>;
			readonly headers?: Record<string, string>;
		} = {},
	) {
		traces++;
		const traceId = traces.toString(16).padStart(32, "a");
		const answer = await server.ask(
			{ query, variables },
			{ traceparent: `00-${traceId}-${SPAN}-01`, ...headers },
		);
		const root = await spanOfRequest(traceId);
		return { ...answer, traceId, root };
	}

	async function spanOfRequest(traceId: string): Promise<ReceivedSpan> {
		const find = () =>
			collector.spans.find(
				(one) => one.traceId === traceId && one.parentSpanId === SPAN,
			);
		await until("the span of the request", () => find() !== undefined);
		return find() as ReceivedSpan;
	}

	/** While these reads of the storage port are replaced. */
	async function replaced<T>(
		own: OwnReads,
		body: () => Promise<T>,
	): Promise<T> {
		const { storage } = server;
		Object.assign(storage, { read: readsWith(storage, own) });
		try {
			return await body();
		} finally {
			Reflect.deleteProperty(storage, "read");
		}
	}

	it("sends a request, its steps and their statements as one tree", async () => {
		const { root, text } = await ask(
			"query Cold { interests(first: 2) { totalCount nodes { slug } } }",
		);
		assert.deepEqual(JSON.parse(text), {
			data: { interests: { totalCount: 0, nodes: [] } },
		});
		assert.deepEqual(treeOf(collector.spans, root), [
			"POST /graphql",
			"  scan listInterest",
			"    scan listInterest",
		]);
		const { attributes, kind, resource, status } = root;
		assert.deepEqual([kind, status], [2, 0]);
		assert.equal(resource["service.name"], "corkboard");
		assert.equal(attributes["http.response.status_code"], 200);
		assert.equal(attributes["graphql.operation.type"], "query");
		assert.equal(attributes["graphql.operation.name"], "Cold");
		assert.equal(attributes["corkboard.way"], "long");
		assert.equal(typeof attributes["corkboard.cost"], "number");
		const [step] = childrenOf(collector.spans, root);
		assert.ok(step);
		assert.equal(step.attributes["corkboard.mapping"], "listInterest");
		assert.equal(step.attributes["corkboard.cache.process.misses"], 1);
		const [statement] = childrenOf(collector.spans, step);
		assert.ok(statement);
		assert.equal(statement.kind, 3);
		assert.equal(statement.attributes["db.system.name"], "sqlite");
		// Each is within the one above it.
		for (const [outer, inner] of [
			[root, step],
			[step, statement],
		] as const) {
			assert.ok(outer.start <= inner.start && inner.end <= outer.end);
		}
	});

	it("sends requests on the short way, and one that uses a kept answer again", async () => {
		const ways: unknown[] = [];
		for (let n = 0; n < 5; n++) {
			const { root } = await ask("query Again { interests { totalCount } }");
			ways.push(root.attributes["corkboard.way"]);
			assert.equal(
				childrenOf(collector.spans, root).length,
				ways.at(-1) === "reused" ? 0 : 1,
			);
		}
		assert.deepEqual(ways, ["long", "long", "short", "short", "reused"]);
	});

	it("sends the writes of a mutation below its call, without a value", async () => {
		const { root } = await ask(
			"mutation Rename($name: String!) { updateUser(input: {name: $name}) { user { name } } }",
			{
				variables: { name: SECRET },
				headers: { authorization: `Bearer ${token}` },
			},
		);
		assert.deepEqual(
			treeOf(collector.spans, root).filter((line) => !/^ {4}/.test(line)),
			["POST /graphql", "  call Mutation.updateUser", "  fetch User"],
		);
		const [call] = childrenOf(collector.spans, root);
		assert.ok(call);
		const write = childrenOf(collector.spans, call).find(
			({ name }) => name === "write transaction",
		);
		assert.ok(write);
		assert.ok(
			childrenOf(collector.spans, write).some(({ name }) => name === "commit"),
		);
		assert.ok(
			!JSON.stringify(collector.spans, (_, value) =>
				typeof value === "bigint" ? String(value) : value,
			).includes(SECRET),
		);
	});

	it("begins a trace of its own for a header that is not valid", async () => {
		const before = new Set(collector.spans.map(({ traceId }) => traceId));
		const traceparent = `00-${TRACE}-${SPAN}-01-'; DROP TABLE users; --`;
		const query = "query Hostile { __typename }";
		const { response } = await server.ask({ query }, { traceparent });
		assert.equal(response.status, 200);
		const isOwn = ({ traceId, attributes }: ReceivedSpan) =>
			!before.has(traceId) &&
			attributes["graphql.operation.name"] === "Hostile";
		await until("the span of the request", () => collector.spans.some(isOwn));
		const span = collector.spans.find(isOwn);
		assert.equal(span?.parentSpanId, "");
		assert.notEqual(span?.traceId, TRACE);
	});

	it("marks a request that failed, and explains it by each of its ids while it is kept", async () => {
		const rejects = async (): Promise<never> => {
			throw new TypeError("broken");
		};
		const { root, response, text, traceId } = await replaced(
			{ objects: rejects },
			() => ask(USERS, { variables: { ids: ["774262344384999"] } }),
		);
		const { errorId } = JSON.parse(text).errors[0].extensions;
		assert.equal(root.status, 2);
		assert.equal(root.attributes["error.type"], "INTERNAL");
		assert.deepEqual(root.attributes["corkboard.error.ids"], [errorId]);
		const requestId = response.headers.get("x-request-id") as string;
		const line = server.lines.find(
			({ msg, reqId }) => msg === "request completed" && reqId === requestId,
		);
		assert.deepEqual([line?.traceId, line?.errorIds], [traceId, [errorId]]);
		const admin = new URL(server.admin ?? "").host;
		for (const given of [errorId, requestId, traceId]) {
			const { code, out } = await command(["explain", "--trace", given], {
				env: { CORKBOARD_ADMIN: admin },
			});
			assert.equal(code, 0);
			assert.match(out, new RegExp(`reqId ${requestId}`));
			assert.match(out, /^query Users: cost /m);
			assert.match(out, /1 error \(INTERNAL\)/);
			assert.match(out, /^\$ids: 1 × string ≤ 16$/m);
		}
		const absent = await command(["explain", "--trace", TRACE], {
			env: { CORKBOARD_ADMIN: admin },
		});
		assert.match(absent.err, /keeps no request with the id/);
		assert.equal(absent.code, 1);
	});

	it("explains a request by the id that a proxy gave it", async () => {
		const id = "Root=1-67891233-abc/def+1:2";
		const { response } = await ask("query Named { __typename }", {
			headers: { "x-amzn-trace-id": id },
		});
		assert.equal(response.headers.get("x-request-id"), id);
		const { code, out, err } = await command(["explain", "--trace", id], {
			env: { CORKBOARD_ADMIN: new URL(server.admin ?? "").host },
		});
		assert.equal(code, 0, err);
		assert.match(out, /operation Named/);
		const malformed = await fetch(
			new URL("/requests/%E0%A4%A", server.admin ?? ""),
		);
		assert.equal(malformed.status, 404);
	});

	it("logs a slow request with what it did, and without a value of its variables", async () => {
		const { storage } = server;
		const read = storage.read.bind(storage);
		const { traceId, response } = await replaced(
			{
				async lists(scans, call) {
					await new Promise((resolve) => setTimeout(resolve, 350));
					return read("lists", scans, call);
				},
			},
			() =>
				ask(
					"query Slow($slug: String!, $ids: [ID!]!) { user(by: {username: $slug}) { boards { totalCount } } nodes(ids: $ids) { ... on User { followers { totalCount } } } }",
					{ variables: { slug: SECRET, ids: [id], unused: SECRET } },
				),
		);
		const line = server.lines.find(
			(one) => one.msg === "slow request" && one.traceId === traceId,
		);
		assert.ok(line);
		assert.equal(line.reqId, response.headers.get("x-request-id"));
		assert.equal(line.operation, "Slow");
		assert.match(String(line.document), /^[0-9a-f]{64}$/);
		assert.ok(Number(line.ms) >= 300 && Number(line.cost) > 0);
		assert.deepEqual(line.shapes, {
			slug: "string ≤ 32",
			ids: "1 × string ≤ 16",
		});
		const steps = line.steps as Record<string, unknown>[];
		const scan = steps.find(({ step }) => step === "scan followUser.inverse");
		assert.ok(scan && Number(scan.ms) >= 300, JSON.stringify(steps));
		assert.equal(scan.path, "nodes.followers");
		const [host] = line.hosts as Record<string, unknown>[];
		assert.ok(host && Number(host.statements) > 0);
		assert.ok(!JSON.stringify(server.lines).includes(SECRET));
	});
});

describe("the log of slow requests", () => {
	it("is bounded, and says how many it left out", () => {
		const lines: Record<string, unknown>[] = [];
		const log = createLog({
			level: "info",
			format: "json",
			destination: { write: (line) => lines.push(JSON.parse(line)) },
		});
		const count = 1_000;
		{
			using _slow = logSlowRequests(log, 300);
			for (let n = 0; n < count; n++) {
				SERVER_CHANNELS.request.publish(slowRequest({ ms: 300 }));
				SERVER_CHANNELS.request.publish(slowRequest({ ms: 299 }));
			}
		}
		const logged = lines.filter(({ msg }) => msg === "slow request").length;
		assert.ok(logged >= 10 && logged < 100, `${logged} lines`);
		const leftOut = lines.reduce(
			(sum, line) => sum + Number(line.leftOut ?? 0),
			0,
		);
		assert.equal(logged + leftOut, count);
		assert.equal(lines.at(-1)?.msg, "slow requests left out");
	});

	it("has lines of bounded length, whatever a client names", () => {
		const lines: string[] = [];
		const log = createLog({
			level: "info",
			format: "json",
			destination: { write: (line) => lines.push(line) },
		});
		using _slow = logSlowRequests(log, 300);
		const name = "x".repeat(10_000);
		const step = (n: number): ExplainStep => ({
			...STEP,
			path: `${n}${name}`,
			ms: n,
			statements: Array(100).fill(STATEMENT),
		});
		const explain: ExplainOutput = {
			operation: name,
			cost: 1,
			limit: 1,
			ms: 1,
			statements: 1,
			rows: 1,
			written: 0,
			sql: [],
			steps: Array.from({ length: 500 }, (_, n) => step(n)),
		};
		SERVER_CHANNELS.request.publish(
			slowRequest({
				operation: name,
				codes: Array(1_000).fill("INTERNAL"),
				errorIds: Array(1_000).fill(TRACE),
				record: {
					span: null,
					operation: {
						end: () => {},
						heldBytes: 0,
						recorded: () => ({ explain, hosts: [], variables: {} }),
					},
				},
			}),
		);
		assert.equal(lines.length, 1);
		assert.ok(Number(lines[0]?.length) < 20_000, String(lines[0]?.length));
		assert.equal(JSON.parse(lines[0] ?? "").stepsLeftOut, 470);
	});

	it("are kept as they were recorded, and written as JSON when somebody asks, unless they keep much in use", () => {
		using requests = keepRequests(500);
		const calls: string[] = [];
		const publish = (requestId: string, heldBytes: number) =>
			SERVER_CHANNELS.request.publish(
				slowRequest({
					requestId,
					record: {
						span: null,
						operation: {
							end: () => calls.push(`${requestId} ends`),
							heldBytes,
							recorded() {
								calls.push(`${requestId} is written`);
								return { explain: null, hosts: [], variables: {} };
							},
						},
					},
				}),
			);
		publish("small", 1_000);
		publish("large", 1_000_000);
		assert.deepEqual(calls.splice(0), [
			"small ends",
			"large ends",
			"large is written",
		]);
		assert.match(requests.find("small") ?? "", /"operation":"Slow"/);
		assert.match(requests.find("large") ?? "", /"operation":"Slow"/);
		assert.deepEqual(calls.splice(0), ["small is written"]);
		// Those that keep something in use are few: 4 MB of it.
		for (let n = 0; n < 200; n++) publish(`some${n}`, 60_000);
		assert.equal(requests.find("some0"), null);
		assert.equal(requests.find("some120"), null);
		assert.notEqual(requests.find("some140"), null);
	});
});

const STATEMENT = {
	name: "objects pins",
	host: "a:1",
	shard: 1,
	rows: 1,
	ms: 1,
	sql: null,
	parameters: [],
	shared: false,
} as const;

const STEP: ExplainStep = {
	kind: "fetch",
	path: "",
	field: "Query.node",
	target: "Pin",
	withPage: false,
	cost: 1,
	runs: 1,
	parents: 1,
	results: 1,
	errors: [],
	hiddenEdges: 0,
	shards: [1],
	modShards: [],
	hosts: ["a:1"],
	statements: [],
	cache: [{ layer: "redis", hits: 1, misses: 2 }],
	rows: 1,
	startMs: 0,
	ms: 1,
	write: null,
	steps: [],
};

function slowRequest(given: Partial<RequestCompleted>): RequestCompleted {
	return {
		way: "short",
		isText: true,
		uses: null,
		client: "",
		type: "query",
		operation: "Slow",
		sha256: null,
		status: 200,
		codes: [],
		errorIds: [],
		cost: 1,
		ms: 1_000,
		requestId: "one",
		traceId: null,
		record: null,
		...given,
	};
}

describe("explain --trace", () => {
	it("says what is missing: the address, a server, or a valid id", async () => {
		const cases: readonly (readonly [string[], object, RegExp])[] = [
			[[TRACE], {}, /set CORKBOARD_ADMIN/],
			[
				[TRACE],
				{ CORKBOARD_ADMIN: "127.0.0.1:1" },
				/No server answers on 127\.0\.0\.1:1 \(CORKBOARD_ADMIN\)/,
			],
			[
				["../metrics?x"],
				{ CORKBOARD_ADMIN: "127.0.0.1:1" },
				/takes the id of a trace, of an error/,
			],
			[[TRACE, "-"], {}, /takes no FILE/],
		];
		for (const [args, env, message] of cases) {
			const { code, err } = await command(["explain", "--trace", ...args], {
				env: env as Record<string, string>,
			});
			assert.notEqual(code, 0);
			assert.match(err, message);
		}
	});
});

describe("a collector that fails", () => {
	/** Sends one span, and says how long it took to give up. */
	async function closeAfterOne(url: string): Promise<number> {
		const { traces: options } = readConfig({
			OTEL_EXPORTER_OTLP_ENDPOINT: url,
		});
		assert.ok(options);
		const traces = openTraces(options);
		traces.start({}, performance.now())?.end(null);
		const closedAt = performance.now();
		await traces[Symbol.asyncDispose]();
		return performance.now() - closedAt;
	}

	it("is logged, and does not hold up a shutdown for long", async () => {
		const lines: Record<string, unknown>[] = [];
		using _events = logEvents(
			createLog({
				level: "info",
				format: "json",
				destination: { write: (line) => lines.push(JSON.parse(line)) },
			}),
		);
		const silent = createServer(() => {});
		silent.listen(0, "127.0.0.1");
		await once(silent, "listening");
		const { port } = silent.address() as AddressInfo;
		const times = await Promise.all([
			closeAfterOne("http://127.0.0.1:1"),
			closeAfterOne(`http://127.0.0.1:${port}`),
		]);
		silent.close();
		silent.closeAllConnections();
		// The exporter itself would wait for ten seconds.
		assert.ok(Math.max(...times) < 9_000, String(times));
		// One a minute.
		assert.deepEqual(
			lines.map(({ msg, spans }) => [msg, spans]),
			[["traces not exported", 1]],
		);
	});
});

describe("the parts of traces", () => {
	it("take a valid traceparent and nothing else", () => {
		const valid = `00-${TRACE}-${SPAN}-01`;
		assert.deepEqual(parentOf({ traceparent: valid }), {
			traceId: TRACE,
			spanId: SPAN,
			isSampled: true,
			state: null,
		});
		assert.equal(parentOf({ traceparent: `${valid}-later` }), null);
		// A later version may have more parts.
		assert.ok(parentOf({ traceparent: `cc-${valid.slice(3)}-later` }));
		for (const traceparent of [
			"",
			valid.toUpperCase(),
			`ff-${valid.slice(3)}`,
			`00-${"0".repeat(32)}-${SPAN}-01`,
			`00-${TRACE}-${"0".repeat(16)}-01`,
			`${valid}, ${valid}`,
			`${valid}\n`,
			`00-${TRACE}-${SPAN}-01'*/ SELECT 1`,
			`cc-${TRACE}-${SPAN}-01-${"x".repeat(10_000)}`,
		]) {
			assert.equal(parentOf({ traceparent }), null, traceparent);
		}
		const stateOf = (tracestate: string) =>
			parentOf({ traceparent: valid, tracestate })?.state;
		assert.equal(stateOf("a=1, b@c=2"), "a=1,b@c=2");
		assert.equal(stateOf("a=1,,B=2"), null);
		assert.equal(stateOf(`a=${"x".repeat(600)}`), null);
	});

	it("write a comment that no value can leave", () => {
		assert.equal(
			sqlComment({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: null }),
			`/*traceparent='00-${TRACE}-${SPAN}-01'*/`,
		);
		const hostile = "*/ DROP TABLE users; --'\"\\?%!(){}~\u0000\u2028\ud800ü";
		const comment = sqlComment({ tracestate: hostile, "a*/b": "c" });
		assert.match(comment, /^\/\*[\w%=',.-]*\*\/$/);
		const [, value = ""] = /tracestate='([^']*)'/.exec(comment) ?? [];
		assert.equal(decodeURIComponent(value), hostile.toWellFormed());
	});

	it("sample as a client decided, by the id of its trace, or by chance", () => {
		const parent = (traceId: string, isSampled: boolean) => ({
			traceId,
			spanId: SPAN,
			isSampled,
			state: null,
		});
		const following = createSampler({ ratio: 0, followsParent: true });
		assert.equal(following(parent(TRACE, true)), true);
		assert.equal(following(parent(TRACE, false)), false);
		assert.equal(following(null), false);
		const own = createSampler({ ratio: 0.5, followsParent: false });
		assert.equal(own(parent(`${"0".repeat(31)}1`, false)), true);
		assert.equal(own(parent(`${"0".repeat(24)}ffffffff`, true)), false);
		assert.equal(createSampler({ ratio: 1, followsParent: true })(null), true);
	});

	it("are off unless OpenTelemetry's variables ask for them, and refuse what is not supported", () => {
		const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" };
		for (const env of [
			{},
			{ OTEL_SERVICE_NAME: "x" },
			{ ...endpoint, OTEL_SDK_DISABLED: "true" },
			{ ...endpoint, OTEL_TRACES_EXPORTER: "none" },
		]) {
			assert.equal(readConfig(env).traces, null);
		}
		assert.equal(
			readConfig({ OTEL_TRACES_EXPORTER: "otlp" }).traces?.url,
			"http://localhost:4318/v1/traces",
		);
		for (const env of [
			{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
			{ OTEL_TRACES_SAMPLER: "jaeger_remote" },
			{ OTEL_TRACES_SAMPLER_ARG: "2" },
			{ OTEL_TRACES_EXPORTER: "zipkin" },
		]) {
			assert.throws(() => readConfig({ ...endpoint, ...env }), /OTEL_/);
		}
	});
});
