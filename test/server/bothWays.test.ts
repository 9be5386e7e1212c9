import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { after, before, suite, test } from "node:test";
import { GraphQLError } from "graphql";
import { KeptEntries } from "../../src/cache/keptEntries.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { openDocumentFiles } from "../../src/server/documents/documentFiles.ts";
import {
	createDocuments,
	type DocumentMode,
	type Documents,
} from "../../src/server/documents/documents.ts";
import { createBudget } from "../../src/server/limits/budget.ts";
import { createRateLimit } from "../../src/server/limits/rateLimit.ts";
import type { ServerOptions } from "../../src/server/server.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import {
	ADA,
	executeToy,
	GONE,
	startToy,
	type Toy,
	type ToyExecute,
	tokens,
	toySchema,
} from "../helpers/toyServer.ts";
import { until } from "../helpers/until.ts";
import { FREE, sha256, writeDocumentFile } from "./documents/serving.ts";

/** An operator. */
const EVE = "241294492511762327" as Id;

/** One request, as bytes on the wire say it. */
interface Sent {
	readonly method: "GET" | "POST";
	/** A POST's body, or a GET's parameters. */
	readonly parameters: Readonly<Record<string, unknown>> | string;
	readonly headers?: Readonly<Record<string, string>>;
}

/** A response without what differs each time: date, request id and ids of errors. */
interface Received {
	readonly status: string;
	readonly headers: readonly string[];
	readonly body: string;
}

/** Two servers that differ in nothing but the ways that they may take. */
interface Pair extends AsyncDisposable {
	readonly short: Toy;
	readonly long: Toy;
	/** Sends a request to both and compares. Returns what both answered. */
	compare(sent: Sent): Promise<Received>;
	/** How many requests the first server answered by the short way. */
	taken(): Promise<number>;
}

async function startPair(
	options: () =>
		| Promise<Parameters<typeof startToy>[0]>
		| Parameters<typeof startToy>[0],
): Promise<Pair> {
	await using opened = new AsyncDisposableStack();
	const short = opened.use(await startToy({ ...(await options()) }));
	const long = opened.use(
		await startToy({ ...(await options()), shortWay: false }),
	);
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	opened.defer(() => agent.destroy());
	const resources = opened.move();
	return {
		short,
		long,
		async compare(sent) {
			const expected = await send(long, agent, sent);
			const received = await send(short, agent, sent);
			assert.deepEqual(received, expected, JSON.stringify(sent));
			return received;
		},
		async taken() {
			return (await reportOf(short)).requests.short;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

async function send(
	{ server }: Toy,
	agent: Agent,
	{ method, parameters, headers = {} }: Sent,
): Promise<Received> {
	const isGet = method === "GET";
	const search = isGet ? `?${searchOf(parameters)}` : "";
	const body =
		typeof parameters === "string" ? parameters : JSON.stringify(parameters);
	const sent = request(`${server.url}/graphql${search}`, {
		method,
		agent,
		headers: {
			...(isGet ? {} : { "content-type": "application/json" }),
			...(isGet ? {} : { "content-length": Buffer.byteLength(body) }),
			...headers,
		},
	});
	sent.end(isGet ? undefined : body);
	const [response] = (await once(sent, "response")) as [IncomingMessage];
	const chunks: Buffer[] = [];
	for await (const chunk of response) chunks.push(chunk as Buffer);
	const { rawHeaders } = response;
	const lines: string[] = [];
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const name = rawHeaders[at]?.toLowerCase();
		assert.ok(name !== undefined);
		const value =
			name === "date" || name === "x-request-id" ? "…" : rawHeaders[at + 1];
		// Buckets fill while the one request comes after the other.
		lines.push(
			`${name}: ${value}`
				.replace(/^(ratelimit: .*);t=\d+$/, "$1")
				.replace(/^(retry-after: )\d{4,}$/, "$1…"),
		);
	}
	return {
		status: `${response.statusCode} ${response.statusMessage}`,
		headers: lines.toSorted(),
		body: Buffer.concat(chunks)
			.toString("latin1")
			.replaceAll(/"errorId":"[\w-]{36}"/g, '"errorId":"…"')
			.replaceAll(/Retry in \d{4,} s/g, "Retry in … s"),
	};
}

function searchOf(parameters: Sent["parameters"]): string {
	if (typeof parameters === "string") return parameters;
	const search = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters)) {
		search.set(name, typeof value === "string" ? value : JSON.stringify(value));
	}
	return search.toString();
}

/** Says what it was called with, so that both ways must call it alike. */
const executeAndReport: ToyExecute = async (operation) => {
	const { source, operationName, variables, viewer, explain, costMeter } =
		operation;
	const called = {
		source,
		operationName: operationName ?? null,
		variables,
		viewer,
	};
	const refused = await costMeter.admit(source.length);
	if (refused !== null) return { errors: [refused] };
	const result = await executeToy(operation);
	costMeter.recordReads(7);
	return {
		...result,
		...(result.data && { data: { ...result.data, called } }),
		...(explain && { extensions: { explain: "how" } }),
		// Every answer may be used again: the same request gets the same.
		...(operation.recordsReads && {
			reuse: { isValid: () => true, isFor: null, reads: 7, bytes: 100 },
		}),
	};
};

const HELLO = "query Hello($name: String) {\n  hello(name: $name)\n}";
const LONG = `{ ${Array.from({ length: 30 }, (_, n) => `long${n}: hello(name: "${"x".repeat(99)}")`).join(" ")} }`;

/** Documents and variables, valid and not, by what is said of them. */
const OPERATIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> =
	{
		plain: { query: "{ hello }" },
		"with a variable": { query: HELLO, variables: { name: "Ada" } },
		"with a variable in another script": {
			query: HELLO,
			variables: { name: "Ådá 彼女 🐈 \u2028" },
		},
		"with its only operation's name": { query: HELLO, operationName: "Hello" },
		"with an empty operation name": { query: HELLO, operationName: "" },
		"with null for all that may be absent": {
			query: HELLO,
			operationName: null,
			variables: null,
			extensions: null,
		},
		"with variables that it does not use": {
			query: "{ hello }",
			variables: { a: [1, { b: 2 }] },
		},
		"one of two operations": {
			query: "query A { hello } query B { viewer }",
			operationName: "B",
		},
		"no operation of two": { query: "query A { hello } query B { viewer }" },
		"an operation that is not there": { query: HELLO, operationName: "No" },
		"about the viewer": { query: "{ viewer }" },
		"a mutation": { query: "mutation { setNumber(to: 3) }" },
		"a mutation with a fragment": {
			query: "mutation M { ...F } fragment F on Mutation { setNumber(to: 3) }",
		},
		long: { query: LONG },
		"forbidden in part": { query: '{ hello fail(how: "forbidden") }' },
		"an operator's error": { query: '{ fail(how: "config") }' },
		"an unexpected GraphQL error": { query: '{ fail(how: "graphql") }' },
		"an unexpected error": { query: '{ hello fail(how: "bug") }' },
		"a null for all": { query: "{ hello must }" },
		"a variable of a wrong type": { query: HELLO, variables: { name: 5 } },
		"a missing variable": {
			query: "query ($is: Color!) { color(is: $is) }",
			variables: {},
		},
		"a wrong enum value": {
			query: "query ($is: Color!) { color(is: $is) }",
			variables: { is: "BLUE" },
		},
		"that does not parse": { query: "{ hello" },
		"that is not valid": { query: "{ hallo }" },
		introspection: { query: "{ __schema { queryType { name } } }" },
		"too many values": {
			query: "{ hello }",
			variables: { all: Array.from({ length: 1_001 }, () => 0) },
		},
		"too many characters": { query: `{ hello }${" ".repeat(33_000)}` },
		"no document": {},
		"an empty document": { query: "" },
		"a document that is not text": { query: 7 },
		"variables that are text": { query: "{ hello }", variables: "{}" },
		"variables that are a list": { query: "{ hello }", variables: [] },
		"extensions that are a list": { query: "{ hello }", extensions: [] },
		"other extensions": { query: "{ hello }", extensions: { other: 1 } },
		"an operation name that is no text": { query: HELLO, operationName: 1 },
		"by its hash": persisted(sha256(HELLO)),
		"by its hash, with its text": { ...persisted(sha256(HELLO)), query: HELLO },
		"by its hash, with another text": {
			...persisted(sha256(HELLO)),
			query: "{ hello }",
		},
		"by its hash, with variables": {
			...persisted(sha256(HELLO)),
			variables: { name: "Bob" },
		},
		"by another version": persisted(sha256(HELLO), 2),
		"by an unknown hash": persisted(sha256("{ unknown }")),
		"by a hash that is none": persisted("hello-id"),
		"by a number": persisted(5),
		"by its documentId": { documentId: "hello-id" },
		"by its documentId, with its text": {
			documentId: "hello-id",
			query: HELLO,
		},
		"by its documentId, with another text": {
			documentId: "hello-id",
			query: "{ hello }",
		},
		"by sha256:": { documentId: `sha256:${sha256(HELLO)}` },
		"by a malformed sha256:": { documentId: "sha256:zz" },
		"by an unknown documentId": { documentId: "nobody-knows" },
		"by id": { id: "hello-id", variables: { name: "Eve" } },
		"by doc_id": { doc_id: "hello-id" },
		"by two ids": { id: "hello-id", doc_id: "set-id" },
		"a mutation by its documentId": {
			documentId: "set-id",
			variables: { to: 4 },
		},
	};

function persisted(sha256Hash: unknown, version = 1) {
	return { extensions: { persistedQuery: { version, sha256Hash } } };
}

const FILE = {
	"hello-id": HELLO,
	"set-id": "mutation Set($to: Int!) {\n  setNumber(to: $to)\n}",
};

async function documentsOf(
	mode: DocumentMode,
	opened: AsyncDisposableStack,
): Promise<Documents> {
	const folder = opened.use(temporaryFolder());
	const files =
		mode === "off"
			? null
			: opened.use(
					await openDocumentFiles({
						paths: [writeDocumentFile(folder.path, FILE)],
						rules: {
							schema: toySchema,
							planner: { analyzeWorstCaseCost: () => [FREE] },
							maxCost: 10,
						},
						prepare: () => {},
						log: { info() {}, error() {} },
					}),
				);
	return createDocuments({ mode, files, shared: null, log: { warn() {} } });
}

/** Headers of requests, by what is said of them. */
async function headersOf(): Promise<
	Readonly<Record<string, Readonly<Record<string, string>>>>
> {
	const bearer = async (id: Id) => `Bearer ${await tokens.sign(id)}`;
	return {
		none: {},
		"GraphQL's own type": { accept: "application/graphql-response+json" },
		"types with weights": {
			accept:
				"application/graphql-response+json;q=0.5, application/json;q=0.9, */*;q=0.1",
		},
		"any type": { accept: "*/*" },
		"an image": { accept: "image/png" },
		"a page": { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
		"a token": { authorization: await bearer(ADA) },
		"a token in another spelling": {
			authorization: (await bearer(ADA)).replace("Bearer", "bearer "),
		},
		"a token of nobody": { authorization: await bearer(GONE) },
		"a forged token": { authorization: "Bearer none" },
		"another scheme": { authorization: "Basic YTpi" },
		"an operator's token": { authorization: await bearer(EVE) },
		"an operator who asks for explain": {
			authorization: await bearer(EVE),
			"corkboard-explain": "1",
		},
		explain: { "corkboard-explain": "1" },
		cost: { "corkboard-cost": "1" },
		"an allowed origin": { origin: "https://app.example" },
		"an origin on this machine": { origin: "http://localhost:3000" },
		"another origin": { origin: "https://evil.example" },
		gzip: { "accept-encoding": "gzip" },
		"gzip and brotli": { "accept-encoding": "gzip, deflate, br" },
		"encodings with weights": { "accept-encoding": "br;q=0.1, gzip;q=0.9" },
		"any encoding": { "accept-encoding": "*" },
		"no encoding": { "accept-encoding": "identity" },
		"no compression": { "accept-encoding": "gzip", "x-no-compression": "1" },
		"what satisfies the CSRF prevention": { "apollo-require-preflight": "1" },
		"that, and an allowed origin": {
			"x-apollo-operation-name": "Hello",
			origin: "https://app.example",
		},
		"that, and a token": {
			"apollo-require-preflight": "1",
			authorization: await bearer(ADA),
		},
		"that, and brotli": {
			"apollo-require-preflight": "1",
			"accept-encoding": "br",
		},
		"that, and any version": {
			"apollo-require-preflight": "1",
			"if-none-match": "*",
		},
		"that, and another version": {
			"apollo-require-preflight": "1",
			"if-none-match": 'W/"other"',
		},
		"the names of a proxy": {
			"x-forwarded-for": "198.51.100.7",
			"x-forwarded-proto": "https",
			"x-forwarded-host": "api.example",
		},
		"a host that is none": { host: "[" },
		"another host": { host: "api.example:8443" },
		"a compressed body": { "content-encoding": "gzip" },
		"another charset": { "content-type": "application/json; charset=utf-16" },
		"another type": { "content-type": "text/plain" },
		"JSON with a parameter": {
			"content-type": "application/json; charset=UTF-8",
		},
	};
}

const CONFIGURATIONS: Readonly<
	Record<
		string,
		{
			readonly documents: DocumentMode;
			readonly options: Partial<Omit<ServerOptions, "execute">>;
			/** Every third combination, or each header with two operations and the reverse. */
			readonly isThorough: boolean;
		}
	>
> = {
	"in production": {
		documents: "report",
		isThorough: true,
		options: { mode: "production", graphiql: "operators" },
	},
	"in development": {
		documents: "off",
		isThorough: false,
		options: { mode: "development", graphiql: "everyone" },
	},
	"for known documents only, with the draft's status": {
		documents: "strict",
		isThorough: false,
		options: { mode: "production", httpStatus: "draft", httpMaxAge: 0 },
	},
	"behind a proxy, for pages of any origin, uncompressed": {
		documents: "off",
		isThorough: false,
		options: {
			mode: "production",
			trustProxy: true,
			compression: false,
			cors: ["*"],
		},
	},
};

for (const [where, { documents, options, isThorough }] of Object.entries(
	CONFIGURATIONS,
)) {
	suite(`the short way and the long way ${where}`, () => {
		const opened = new AsyncDisposableStack();
		let pair: Pair;
		let headers: Awaited<ReturnType<typeof headersOf>>;
		before(async () => {
			headers = await headersOf();
			pair = opened.use(
				await startPair(async () => ({
					execute: executeAndReport,
					isUser: async (id: Id) => id === ADA || id === EVE,
					operators: { ids: new Set([EVE]), claims: [] },
					answersIn: new KeptEntries(1_000_000),
					documents: await documentsOf(documents, opened),
					operatorDocuments: await documentsOf("off", opened),
					dependsOnViewer: ({ document }) =>
						document.loc?.source.body.includes("viewer") === true,
					cors: ["https://app.example"],
					...options,
				})),
			);
		});
		after(() => opened.disposeAsync());

		for (const method of ["POST", "GET"] as const) {
			test(`answer the same to each ${method}`, async () => {
				const { requests: before } = await reportOf(pair.short);
				let count = 0;
				const statuses = new Set<string>();
				for (const [at, parameters] of Object.values(OPERATIONS).entries()) {
					// The first two times it may be unknown.
					for (let n = 0; n < 2; n++)
						await pair.compare({ method, parameters, headers: PREFLIGHT });
					for (const [index, [name, some]] of Object.entries(
						headers,
					).entries()) {
						const isSampled =
							at < 2 ||
							name === "none" ||
							name === "a token" ||
							(isThorough && (at + index) % 3 === 0);
						if (!isSampled) continue;
						const { status } = await pair.compare({
							method,
							parameters,
							headers: some,
						});
						statuses.add(status);
						count++;
					}
					const tags = await versionsOf(pair, { method, parameters });
					for (const tag of tags) {
						const headers = { ...PREFLIGHT, "if-none-match": tag };
						await pair.compare({ method, parameters, headers });
					}
				}
				assert.ok(count > (isThorough ? 600 : 150), `${count} requests`);
				const { requests } = await reportOf(pair.short);
				const taken = requests.short - before.short;
				assert.ok(taken > count / 10, `${taken} of ${count} were short`);
				const reused = requests.reused - before.reused;
				assert.ok(reused > taken / 10, `${reused} of ${taken} were kept`);
				assert.ok(statuses.size >= 4, [...statuses].join());
			});
		}

		test("write the same lines to the log", async () => {
			for (const sent of [
				{ method: "POST", parameters: { query: "{ hello }" } },
				{ method: "POST", parameters: { query: '{ fail(how: "bug") }' } },
				{ method: "GET", parameters: { documentId: "hello-id" } },
			] as const) {
				await pair.compare(sent);
			}
			// A line is written when its response has been sent, which the client may see first.
			await until("the last line", () =>
				[pair.short, pair.long].every(
					({ lines }) => lines.at(-1)?.method === "GET",
				),
			);
			assert.deepEqual(linesOf(pair.short), linesOf(pair.long));
		});
	});
}

const PREFLIGHT = { "apollo-require-preflight": "1" };

/** The ETag of a response, in the forms that clients send it. */
async function versionsOf(pair: Pair, sent: Sent): Promise<readonly string[]> {
	const { headers } = await pair.compare({ ...sent, headers: PREFLIGHT });
	const tag = headers.find((line) => line.startsWith("etag: "))?.slice(6);
	return tag === undefined ? [] : [tag, `"x", ${tag.slice(2)}`];
}

/** Lines about requests, without times, ids and the stacks of errors. */
function linesOf({ lines }: Toy) {
	return lines
		.filter(({ route, level }) => route === "/graphql" || level === 50)
		.map(({ time, reqId, ms, errorId, errorIds, err, ...rest }) => ({
			...rest,
			err: (err as { message: string } | undefined)?.message,
			types: [time, reqId, ms, errorId, ...[errorIds].flat()].map(
				(value) => typeof value,
			),
		}));
}

suite("both ways", () => {
	test("count a request towards the rate limit once, whichever answers it", async () => {
		await using pair = await startPair(() => ({
			rateLimit: createRateLimit({ requests: 7, perMs: 600_000_000 }, null),
		}));
		const parameters = HELLO_YOU;
		const statuses: string[] = [];
		for (const sent of [
			{ method: "POST", parameters },
			{ method: "POST", parameters },
			{ method: "POST", parameters },
			{ method: "GET", parameters, headers: PREFLIGHT },
			{ method: "POST", parameters: "{" },
			{ method: "POST", parameters: { query: "{ viewer }" } },
			{ method: "POST", parameters, headers: { authorization: "none" } },
			{ method: "POST", parameters },
			{ method: "GET", parameters, headers: PREFLIGHT },
		] as const) {
			statuses.push((await pair.compare(sent)).status.slice(0, 3));
		}
		assert.deepEqual(statuses, [
			"200",
			"200",
			"200",
			"200",
			"400",
			"200",
			"401",
			"429",
			"429",
		]);
		assert.equal(await pair.taken(), 2);
	});

	test("charge a budget, and refuse when it is empty", async () => {
		await using pair = await startPair(() => ({
			execute: executeAndReport,
			budget: createBudget({ points: 67, perMs: 600_000_000 }, null),
			answersIn: new KeptEntries(1_000_000),
		}));
		const statuses: string[] = [];
		for (let n = 0; n < 11; n++) {
			const { status } = await pair.compare({
				method: "POST",
				parameters: { query: "{ hello }" },
				// What was kept is charged as what runs.
				...(n === 2 && { headers: { "corkboard-cost": "1" } }),
			});
			statuses.push(status.slice(0, 3));
		}
		assert.deepEqual(statuses, [
			...Array.from({ length: 9 }, () => "200"),
			"429",
			"429",
		]);
		const { requests } = await reportOf(pair.short);
		assert.deepEqual(requests, { short: 9, reused: 4, long: 2 });
	});

	test("ask once who sent a request, known or refused", async () => {
		let asked = 0;
		const counted = {
			...tokens,
			verify(token: string) {
				asked++;
				return tokens.verify(token);
			},
		};
		await using toy = await startToy({ accessTokens: counted });
		const ask = async (token: string) => {
			asked = 0;
			const authorization = `Bearer ${token}`;
			const { status } = await toy.post(
				{ query: "{ viewer }" },
				{ authorization },
			);
			return { status, asked };
		};
		const ada = await tokens.sign(ADA);
		// The first two times, the document is unknown.
		for (let n = 0; n < 4; n++) {
			assert.deepEqual(await ask(ada), { status: 200, asked: 1 });
		}
		for (const refused of ["forged", await tokens.sign(GONE)]) {
			assert.deepEqual(await ask(refused), { status: 401, asked: 1 });
		}
		const { requests } = await reportOf(toy);
		assert.deepEqual(requests, { short: 2, reused: 0, long: 4 });
	});

	test("end an operation at its deadline", async () => {
		await using pair = await startPair(() => ({
			limits: { executionMs: 60 },
		}));
		for (const query of ["{ slow(ms: 60000) }", "{ stuck }"]) {
			for (let n = 0; n < 3; n++) {
				await pair.compare({ method: "POST", parameters: { query } });
			}
		}
		assert.equal(await pair.taken(), 2);
	});

	test("say with a 503 of the whole request when to try again", async () => {
		const away = new CorkboardError("UNAVAILABLE", "Away.");
		await using pair = await startPair(() => ({
			execute: async () => ({
				errors: [new GraphQLError("away", { originalError: away })],
			}),
		}));
		const sent = {
			method: "POST",
			parameters: HELLO_YOU,
			headers: { accept: "application/graphql-response+json" },
		} as const;
		for (let n = 0; n < 2; n++) await pair.compare(sent);
		const { status, headers } = await pair.compare(sent);
		assert.equal(await pair.taken(), 1);
		assert.equal(status, "503 Service Unavailable");
		assert.ok(headers.includes("retry-after: 1"));
	});

	test("refuse with 503 where too many requests are in progress", async () => {
		let running = 0;
		await using pair = await startPair(() => ({
			maxRequestsInProgress: 1,
			async execute(operation) {
				running++;
				return executeToy(operation);
			},
		}));
		const quick = { method: "POST", parameters: HELLO_YOU } as const;
		for (let n = 0; n < 3; n++) await pair.compare(quick);
		running = 0;
		const slow = [pair.short, pair.long].map((toy) =>
			toy.post({ query: "{ slow(ms: 1500) }" }),
		);
		await until("both are full", () => running === 2);
		assert.match((await pair.compare(quick)).status, /^503/);
		for (const one of slow) assert.equal((await one).status, 200);
		assert.match((await pair.compare(quick)).status, /^200/);
	});

	test("announce the end of a connection while the server drains", async () => {
		let running = 0;
		let held: Promise<unknown> = Promise.resolve();
		const options = {
			async execute(operation) {
				running++;
				await held;
				return executeToy(operation);
			},
		} satisfies Parameters<typeof startToy>[0];
		const received: Received[] = [];
		for (const shortWay of [true, false]) {
			const toy = await startToy({ ...options, shortWay });
			const [agent, idle] = [1, 2].map(
				() => new Agent({ keepAlive: true, maxSockets: 1 }),
			) as [Agent, Agent];
			const parameters = { query: "{ slow(ms: 1) }" };
			const slow = { method: "POST", parameters } as const;
			for (const each of [agent, agent, idle]) await send(toy, each, slow);
			await until("it is idle", () => socketsOf(idle).length === 1);
			// The request ends only when the idle connection has: that waits for nobody.
			held = once(socketsOf(idle)[0] as Socket, "close");
			running = 0;
			const answer = send(toy, agent, slow);
			await until("it runs", () => running === 1);
			const closing = toy.server.close();
			received.push(await answer);
			await closing;
			for (const each of [agent, idle]) each.destroy();
			held = Promise.resolve();
		}
		assert.deepEqual(received[0], received[1]);
		assert.ok(received[0]?.headers.includes("connection: close"));
	});
});

const HELLO_YOU = { query: "{ hello }" };

/** The connections of an agent that no request uses. */
function socketsOf(agent: Agent): readonly Socket[] {
	return Object.values(agent.freeSockets).flatMap((some) => some ?? []);
}

async function reportOf(toy: Toy) {
	const response = await fetch(`${toy.server.url}/health/ready?verbose`);
	return (await response.json()) as {
		requests: { short: number; reused: number; long: number };
	};
}
