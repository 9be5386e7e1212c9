import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { after, before, mock, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ApolloServer } from "@apollo/server";
import type { Documents } from "../../../src/server/documents/documents.ts";
import { openSocket, postText } from "../../helpers/rawSocket.ts";
import { timed } from "../../helpers/timing.ts";
import { ADA, startToy, type Toy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

/** What the server sends back for these bytes, until it closes the connection. */
function raw(toy: Toy, ...pieces: readonly string[]): Promise<string> {
	return new Promise((resolve, reject) => {
		let answer = "";
		const socket = connect(Number(new URL(toy.server.url).port), "127.0.0.1");
		socket.setTimeout(60_000, () => socket.destroy(new Error("no answer")));
		socket.on("data", (data) => {
			answer += data;
		});
		socket.on("close", () => resolve(answer));
		socket.on("error", reject);
		for (const piece of pieces) socket.write(piece);
	});
}

function fault(message: string, code: string) {
	return { errors: [{ message, extensions: { code } }] };
}

suite("an error outside GraphQL, in GraphQL's format:", () => {
	let toy: Toy;
	before(async () => {
		toy = await startToy();
	});
	after(() => toy.server.close());

	const broken = "The body is not valid JSON.";
	for (const [which, body, message] of [
		["malformed JSON", "{", broken],
		["an empty body", "", broken],
		[
			"a body that would poison a prototype",
			'{"__proto__": {"a": 1}}',
			"The body must not have a key __proto__, or a key prototype below constructor.",
		],
	] as const) {
		test(`${which} is 400`, async () => {
			const response = await toy.post(body);
			assert.equal(response.status, 400);
			assert.deepEqual(await response.json(), fault(message, "BAD_REQUEST"));
		});
	}

	test("a body over a megabyte is 413", async () => {
		const response = await toy.post({ query: " ".repeat(1_000_001) });
		assert.equal(response.status, 413);
		assert.deepEqual(
			await response.json(),
			fault("The body is larger than 1000000 bytes.", "BAD_REQUEST"),
		);
	});

	test("a body just under a megabyte is read", async () => {
		const response = await toy.post({
			query: "{ hello }",
			padding: " ".repeat(999_900),
		});
		assert.equal(response.status, 200);
	});

	test("an unknown URL is 404", async () => {
		for (const [method, path] of [
			["GET", "/"],
			["POST", "/graphql/"],
			["GET", "/graphiql/a/b"],
			["GET", "//graphql"],
		] as const) {
			const response = await fetch(toy.server.url + path, { method });
			assert.equal(response.status, 404, path);
			assert.deepEqual(await response.json(), fault("Not found.", "NOT_FOUND"));
		}
	});

	test("a wrong method is 405 and names the right ones, whatever its body", async () => {
		for (const method of ["PUT", "DELETE", "PATCH"]) {
			const response = await fetch(`${toy.server.url}/graphql?query={hello}`, {
				method,
				body: "{",
				headers: { "content-type": "text/csv" },
			});
			assert.equal(response.status, 405);
			assert.equal(response.headers.get("allow"), "GET, HEAD, POST");
			assert.deepEqual(
				await response.json(),
				fault("This URL accepts only GET, HEAD and POST.", "BAD_REQUEST"),
			);
		}
	});

	test("a body that is not JSON is 415", async () => {
		for (const type of [
			"text/plain",
			"application/x-www-form-urlencoded",
			"multipart/form-data; boundary=x",
			"application/graphql",
		]) {
			const response = await toy.post("query={hello}", {
				"content-type": type,
			});
			assert.equal(response.status, 415, type);
			assert.deepEqual(
				await response.json(),
				fault("The body must be of type application/json.", "BAD_REQUEST"),
			);
		}
	});

	test("a malformed URL is 400", async () => {
		const answer = await raw(
			toy,
			"GET /%zz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
		);
		assert.match(answer, /^HTTP\/1\.1 400 /);
		assert.match(answer, /\{"errors":\[\{"message":"The URL is malformed\."/);
	});

	test("a whole URL, as proxies send it, is its path", async () => {
		for (const [url, status] of [
			// No such document.
			["http://a/graphql?documentId=none", 400],
			["http://a/health/live", 200],
			["http://a", 404],
		] as const) {
			const answer = await raw(
				toy,
				`GET ${url} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`,
			);
			assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), url);
		}
	});

	test("a missing or malformed Host is 400, and so are two (RFC 9112, section 3.2)", async () => {
		for (const path of ["/graphql", "/health/live"]) {
			for (const host of [
				"",
				"host: [\r\n",
				"host: [::g]\r\n",
				"host: a/evil\r\n",
				"host: u@a\r\n",
				"host: a:b:c\r\n",
				"host: a b\r\n",
				"host: a?b\r\n",
				"host: a\r\nhost: b\r\n",
				"host: a\r\nHost: a\r\n",
			]) {
				const answer = await raw(
					toy,
					`GET ${path} HTTP/1.1\r\n${host}connection: close\r\n\r\n`,
				);
				assert.match(answer, /^HTTP\/1\.1 400 /, host);
				assert.match(answer, /"The Host header is missing or malformed,/);
			}
		}
	});

	test("a request without Host is taken in HTTP/1.0, an empty Host and an address in brackets are taken always", async () => {
		for (const head of [
			"HTTP/1.0\r\n\r\n",
			"HTTP/1.0\r\nhost: \r\n\r\n",
			"HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n",
			"HTTP/1.1\r\nhost: :4000\r\nconnection: close\r\n\r\n",
			"HTTP/1.1\r\nhost: [::1]:4000\r\nconnection: close\r\n\r\n",
			"HTTP/1.1\r\nhost: a_b.example:80\r\nconnection: close\r\n\r\n",
		]) {
			for (const [method, path, status] of [
				["GET", "/health/ready", 200],
				["HEAD", "/health/ready", 200],
				["HEAD", "/health/live", 200],
				// The default of HAProxy's `option httpchk`.
				["OPTIONS", "/", 204],
				["GET", "/graphql?documentId=none", 400],
			] as const) {
				const answer = await raw(toy, `${method} ${path} ${head}`);
				assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), head);
				assert.doesNotMatch(answer, /Host header/);
				if (method === "HEAD") assert.match(answer, /\r\n\r\n$/);
			}
		}
	});

	test("HEAD gets the headers of GET, without the body", async () => {
		for (const [search, status] of [
			["?query=%7Bhello%7D", 200],
			["?query=mutation%7BsetNumber(to:1)%7D", 405],
			["?documentId=none", 400],
		] as const) {
			const headersOf = async (method: string) => {
				const answer = await fetch(`${toy.server.url}/graphql${search}`, {
					method,
					headers: { "apollo-require-preflight": "1" },
				});
				assert.equal(answer.status, status, `${method} ${search}`);
				const {
					"x-request-id": _,
					date: __,
					// `fetch` ends the connection after HEAD.
					connection: ___,
					"keep-alive": ____,
					...headers
				} = Object.fromEntries(answer.headers);
				return { headers, text: await answer.text() };
			};
			const got = await headersOf("GET");
			const head = await headersOf("HEAD");
			assert.deepEqual(head.headers, got.headers);
			assert.notEqual(got.text, "");
			assert.equal(head.text, "");
		}
		const both = await raw(
			toy,
			"HEAD /graphql?documentId=none HTTP/1.1\r\nhost: a\r\n\r\n",
			"GET /health/live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
		);
		assert.match(both, /^HTTP\/1\.1 400 [^{]*\r\n\r\nHTTP\/1\.1 200 /);
	});

	test("several Authorization headers are refused: a proxy may have judged another than the first", async () => {
		const answer = await raw(
			toy,
			"GET /health/ready HTTP/1.1\r\nhost: a\r\nconnection: close\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n",
		);
		assert.match(answer, /^HTTP\/1.1 400 [\s\S]*several Authorization headers/);
	});

	test("a client that waits for 100 Continue is asked for its body, unless the request is refused without it", async () => {
		const body = '{"query":"{ __typename }"}';
		const post = (length: number, path = "/graphql") =>
			`POST ${path} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n`;
		const taken = await raw(
			toy,
			`${post(body.length)}\r\n${body}`,
			`${post(body.length)}connection: close\r\n\r\n${body}`,
		);
		assert.deepEqual(taken.match(/HTTP\/1.1 \d+/g), [
			"HTTP/1.1 100",
			"HTTP/1.1 200",
			"HTTP/1.1 100",
			"HTTP/1.1 200",
		]);
		for (const [head, status] of [
			[post(1_000_001), 413],
			[post(10, "/nowhere"), 404],
			[post(10).replace("/json", "/xml"), 415],
		] as const) {
			// It ends the connection: nobody knows whether the body will still come.
			const refused = await raw(toy, `${head}\r\n`);
			assert.match(
				refused,
				new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*connection: close`, "i"),
			);
		}
	});

	test("what Node cannot parse can be read by pages of allowed origins", async () => {
		await using toy = await startToy({
			cors: ["https://app.example"],
			limits: { receiveMs: 100 },
		});
		const large = (origin: string) =>
			`GET / HTTP/1.1\r\nhost: a\r\norigin: ${origin}\r\nx: ${"x".repeat(20_000)}\r\n\r\n`;
		const allowed = await raw(toy, large("https://app.example"));
		assert.match(allowed, /^HTTP\/1\.1 431 /);
		assert.match(
			allowed,
			/\r\naccess-control-allow-origin: https:\/\/app\.example\r\n/,
		);
		assert.match(allowed, /\r\nvary: Origin\r\n/);
		const refused = await raw(toy, large("https://evil.example"));
		assert.match(refused, /^HTTP\/1\.1 431 /);
		assert.doesNotMatch(refused, /allow-origin/);
		// It never sends its body.
		const slow = await raw(
			toy,
			"POST /graphql HTTP/1.1\r\nhost: a\r\norigin: https://app.example\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
		);
		assert.match(slow, /^HTTP\/1\.1 408 /);
		assert.match(slow, /\r\naccess-control-allow-origin: https:/);
	});

	test("a request that is not HTTP is 400", async () => {
		const answer = await raw(toy, "how do you do\r\n\r\n");
		assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
		assert.match(answer, /\{"errors":\[\{"message":"This is not a valid HTTP/);
	});

	test("headers over Node's limit are 431", async () => {
		const answer = await raw(
			toy,
			`GET / HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(20_000)}\r\n\r\n`,
		);
		assert.match(answer, /^HTTP\/1\.1 431 /);
		assert.match(answer, /"The request's headers are too large\."/);
	});

	test("a connection that is first used after that time gets no 408, and one that never is ends without a word", async () => {
		await using toy = await startToy({
			limits: { receiveMs: 100, idleSocketMs: 3_000 },
		});
		using used = await openSocket(toy.server.url);
		using unused = await openSocket(toy.server.url);
		// Node has looked for late requests a few times.
		await sleep(600);
		used.write(postText("{ hello }"));
		await until("the answer", () => used.statuses().length === 1);
		assert.deepEqual(used.statuses(), [200]);
		await unused.closed;
		assert.equal(unused.received(), "");
	});

	test("a body that arrives too slowly is 408", async () => {
		await using impatient = await startToy({ limits: { receiveMs: 300 } });
		const answer = await raw(
			impatient,
			"POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n",
			'{"query":',
		);
		assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
		assert.match(
			answer,
			/\{"errors":\[\{"message":"The request arrived too slowly/,
		);
		assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1);
	});
});

suite("a server that closes", () => {
	test("waits for running requests, and then stops", async () => {
		const toy = await startToy();
		const running = toy.post({ query: "{ slow(ms: 400) }" });
		await toy.firstOperation;
		const closing = timed(() => toy.server.close());
		// Refused by the server, or by the machine once nobody listens.
		const late = await toy.post({ query: "{ hello }" }).then(
			({ status }) => status,
			() => "refused",
		);
		assert.ok(late === 503 || late === "refused", String(late));
		const response = await running;
		assert.equal(response.headers.get("connection"), "close");
		assert.deepEqual(await response.json(), { data: { slow: "done" } });
		// Less than the connection would be kept open for another request.
		const { ownMs } = await closing;
		assert.ok(ownMs < 5_000, `${ownMs} ms`);
		await toy.server.close();
	});

	test("rejects requests, and is not ready, on open connections", async () => {
		for (const [path, type, body] of [
			["/health/ready", "application/json", '{"status":"draining"}'],
			[
				"/graphql",
				"application/graphql-response+json",
				'{"errors":[{"message":"The server is shutting down.","extensions":{"code":"UNAVAILABLE"}}]}',
			],
		] as const) {
			const toy = await startToy();
			const socket = connect(Number(new URL(toy.server.url).port), "127.0.0.1");
			let answer = "";
			socket.on("data", (data) => {
				answer += data;
			});
			const ended = new Promise((resolve) => socket.on("close", resolve));
			// A whole request and half of another, in one piece: once the first is
			// answered the server has the half, and the connection is not idle.
			await once(socket, "connect");
			socket.write(
				`GET /health/live HTTP/1.1\r\nhost: a\r\n\r\nGET ${path} HTTP/1.1\r\nhost: a\r\naccept: ${type}\r\n`,
			);
			await until("the first response", () =>
				answer.endsWith('{"status":"live"}'),
			);
			answer = "";
			const closing = toy.server.close();
			socket.write("\r\n");
			await Promise.all([ended, closing]);
			assert.match(answer, /^HTTP\/1\.1 503 /);
			assert.match(answer, /\r\nconnection: close\r\n/i);
			assert.ok(answer.includes(`content-type: ${type}; charset=utf-8\r\n`));
			assert.equal(answer.split("\r\n\r\n")[1], body);
		}
	});

	test("aborts and cuts off requests that do not end in time", async () => {
		const toy = await startToy({ limits: { drainMs: 200 } });
		const running = toy.post({ query: "{ stuck }" });
		const cut = assert.rejects(running);
		await toy.firstOperation;
		const { ownMs } = await timed(() => toy.server.close());
		await cut;
		assert.ok(ownMs < 5_000, `${ownMs} ms`);
	});
});

suite("a server that fails to start", () => {
	/** How many Apollo Servers started and stopped while `body` ran. */
	async function apolloCalls(body: () => Promise<void>) {
		const start = mock.method(ApolloServer.prototype, "start");
		const stop = mock.method(ApolloServer.prototype, "stop");
		try {
			await body();
			const stopped = await Promise.allSettled(
				stop.mock.calls.map(({ result }) => result),
			);
			assert.ok(stopped.every(({ status }) => status === "fulfilled"));
			return [start.mock.callCount(), stop.mock.callCount()];
		} finally {
			start.mock.restore();
			stop.mock.restore();
		}
	}

	test("names the port that another program uses, and stops Apollo Server", async () => {
		await using toy = await startToy();
		const port = Number(new URL(toy.server.url).port);
		const calls = await apolloCalls(() =>
			assert.rejects(startToy({ port }), {
				code: "IN_USE",
				message: `Port ${port} on 127.0.0.1 is used by another program. Stop it, or set PORT to a free port.`,
			}),
		);
		assert.deepEqual(calls, [1, 1]);
	});

	test("stops the Apollo Server that started before the one that failed", async () => {
		const broken = {
			get texts(): never {
				throw new Error("no second Apollo Server");
			},
		} as unknown as Documents;
		const calls = await apolloCalls(() =>
			assert.rejects(
				startToy({
					operators: { ids: new Set([ADA]), claims: [] },
					operatorDocuments: broken,
				}),
				/no second Apollo Server/,
			),
		);
		assert.deepEqual(calls, [1, 1]);
	});
});

suite("pages of other origins", () => {
	async function allowed(toy: Toy, origin: string): Promise<string | null> {
		const response = await fetch(`${toy.server.url}/graphql`, {
			method: "OPTIONS",
			headers: {
				origin,
				"access-control-request-method": "POST",
				"access-control-request-headers": "authorization,content-type",
			},
		});
		assert.equal(response.status, 204);
		return response.headers.get("access-control-allow-origin");
	}

	test("may send requests in production only if they are listed", async () => {
		await using toy = await startToy({
			mode: "production",
			cors: ["https://example.com"],
		});
		assert.equal(
			await allowed(toy, "https://example.com"),
			"https://example.com",
		);
		assert.equal(await allowed(toy, "https://example.com.evil.test"), null);
		assert.equal(await allowed(toy, "http://localhost:3000"), null);
	});

	test("may send any header, if they are allowed", async () => {
		await using toy = await startToy({
			mode: "production",
			cors: ["https://example.com"],
		});
		const names =
			"apollographql-client-name,apollographql-client-version,authorization,x-of-a-client-to-come";
		const preflight = async (origin: string) => {
			const { headers } = await fetch(`${toy.server.url}/graphql`, {
				method: "OPTIONS",
				headers: {
					origin,
					"access-control-request-method": "POST",
					"access-control-request-headers": names,
				},
			});
			return headers;
		};
		const listed = await preflight("https://example.com");
		assert.equal(listed.get("access-control-allow-headers"), names);
		assert.equal(
			listed.get("access-control-allow-origin"),
			"https://example.com",
		);
		assert.match(listed.get("vary") ?? "", /access-control-request-headers/i);
		assert.equal(listed.get("access-control-allow-credentials"), null);
		const stranger = await preflight("https://evil.test");
		assert.equal(stranger.get("access-control-allow-origin"), null);
		assert.equal(stranger.get("access-control-allow-credentials"), null);
	});

	test("may send requests in development also from localhost", async () => {
		await using toy = await startToy();
		assert.equal(
			await allowed(toy, "http://localhost:3000"),
			"http://localhost:3000",
		);
		assert.equal(await allowed(toy, "http://localhost.evil.test"), null);
	});
});

suite("the log", () => {
	test("has a line for each request, without any text of the client", async () => {
		await using toy = await startToy();
		await toy.post(
			{
				query: 'query Secretive { hello(name: "sesame") }',
				variables: { password: "sesame" },
			},
			{ authorization: "Bearer sesame" },
		);
		const response = await toy.post({
			query: "query($n: String) { hello(name: $n) }",
			variables: { n: "sesame\n{}" },
		});
		await fetch(`${toy.server.url}/sesame?sesame=sesame`);
		await fetch(`${toy.server.url}/graphql?query={sesame}`);
		const requests = () =>
			toy.lines.filter((line) => line.msg === "request completed");
		// Each is written when its answer has gone out, which the client may see first.
		await until("four lines", () => requests().length === 4);
		const lines = requests();
		assert.doesNotMatch(JSON.stringify(toy.lines), /sesame|Secretive/);
		assert.deepEqual(
			lines.map(({ method, route, status }) => [method, route, status]),
			[
				["POST", "/graphql", 401],
				["POST", "/graphql", 200],
				["GET", null, 404],
				["GET", "/graphql", 400],
			],
		);
		assert.equal(lines[1]?.reqId, response.headers.get("x-request-id"));
	});
});

test("both addresses of a host answer GraphQL, with one line of the log each", async (t) => {
	const addresses = ["127.0.0.1", "127.0.0.2"];
	type Found = (error: null, all: readonly dns.LookupAddress[]) => void;
	t.mock.method(dns, "lookup", ((name: string, _: object, done: Found) => {
		const found = name === "localhost" ? addresses : [name];
		setImmediate(() =>
			done(
				null,
				found.map((address) => ({ address, family: 4 })),
			),
		);
	}) as never);
	await using toy = await startToy({ host: "localhost" });
	t.mock.restoreAll();
	const { port } = new URL(toy.server.url);
	for (const address of addresses) {
		const response = await fetch(`http://${address}:${port}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: '{"query": "{ hello }"}',
		});
		assert.deepEqual(await response.json(), { data: { hello: "Hello you" } });
	}
	const lines = () =>
		toy.lines.filter(({ msg }) => msg === "request completed");
	await until("the lines", () => lines().length >= 2);
	const page = await fetch(`http://${addresses[1]}:${port}/graphql`, {
		headers: { accept: "text/html" },
	});
	assert.match(await page.text(), /^<!doctype html>/i);
	await until("the line of the page", () => lines().length >= 3);
	assert.equal(lines().length, 3);
});

test("a client that keeps its connection can use it again", async () => {
	await using toy = await startToy();
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const reused: boolean[] = [];
	for (let i = 0; i < 2; i++) {
		await new Promise<void>((resolve, reject) => {
			const sent = request(
				`${toy.server.url}/health/live`,
				{ agent },
				(res) => {
					reused.push(sent.reusedSocket);
					res.resume().on("end", () => setImmediate(resolve));
				},
			);
			sent.on("error", reject).end();
		});
	}
	agent.destroy();
	assert.deepEqual(reused, [false, true]);
});
