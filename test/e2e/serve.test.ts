import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { banner } from "../../src/cli/banner.ts";
import type { Demo } from "../../src/server/graphiql/registerGraphiql.ts";
import { lockFolder } from "../../src/storage/sqlite/driver/folderLock.ts";
import { client } from "../helpers/client.ts";
import { importDemo } from "../helpers/demoFolder.ts";
import { countRows } from "../helpers/importing.ts";
import {
	type Program,
	runProgram,
	type Served,
	serve,
	startProgram,
} from "../helpers/program.ts";
import { openSocket, postText } from "../helpers/rawSocket.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { reservePort } from "../services/port.ts";

/** No answer takes nearly as long (ms), even on busy cores. */
const LIMIT_MS = 60_000;

/** The URL in the banner, once the banner is complete. */
async function welcomed(program: Program): Promise<string> {
	await program.printed("out", /Press Ctrl-C to stop\./);
	const [, url = ""] = await program.printed(
		"out",
		/^Corkboard serves (http:\S+)\/graphql$/m,
	);
	return url;
}

/** User and system time of a process, in seconds (proc(5)). */
function cpuSecondsOf(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The word after this name in the banner. */
function bannerValue(program: Program, name: string): string {
	const found = new RegExp(`^${name} +(\\S+)$`, "m").exec(program.out());
	assert.ok(found?.[1], program.out());
	return found[1];
}

describe("the first start of an empty folder", () => {
	const folder = temporaryFolder();
	// As `npm start` does, except for the port; the log goes apart from the banner.
	const env = { CORKBOARD_DATA: folder.path, PORT: "0", CORKBOARD_LOG: "warn" };
	let server: Program;
	let url: string;
	/** Its CPU time, in seconds. */
	let firstStart: number;

	before(async () => {
		server = startProgram(["serve"], { env });
		url = await welcomed(server);
		firstStart = cpuSecondsOf(server.pid);
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	it("creates the demo graph, and prints how to start without it", () => {
		// On a busy machine lines of progress follow.
		assert.match(
			server.err(),
			/^Importing a demo graph \(CORKBOARD_DEMO=off starts without one\) …\n(?:[\d,]+ lines, .*\n)*$/,
		);
	});

	it("prints the URL, a query, the demo user, how to get a token, the data folder and how to stop", () => {
		assert.deepEqual(server.out().split("\n"), [
			"",
			`Corkboard serves ${url}/graphql`,
			"  Open it in a browser for GraphiQL, or try:",
			"",
			`  curl -s ${url}/graphql -H 'content-type: application/json' -d '{"query":"{ user(by: {username: \\"marigold_01\\"}) { name boards(first: 2) { nodes { name pins(first: 2) { nodes { details } } } } } }"}'`,
			"",
			"Demo user  marigold_01",
			"Token      npm run -s corkboard -- tokens create marigold_01",
			"  Send `Authorization: Bearer TOKEN` to be the demo user. GraphiQL sends it already.",
			`Data       ${join(folder.path, "/")}`,
			"",
			"Press Ctrl-C to stop.",
			"",
			"",
		]);
	});

	it("prints a query whose response has names and texts of the demo graph", async () => {
		const [, address = "", type = "", body] =
			/curl -s (\S+) -H '([^']+)' -d '([^']+)'/.exec(server.out()) ?? [];
		const response = await fetch(address, {
			method: "POST",
			headers: [type.split(": ") as [string, string]],
			body: body ?? "",
			signal: AbortSignal.timeout(LIMIT_MS),
		});
		assert.equal(response.status, 200);
		const { data, errors } = (await response.json()) as {
			data: {
				user: {
					name: string;
					boards: {
						nodes: { name: string; pins: { nodes: { details: string }[] } }[];
					};
				};
			};
			errors?: unknown;
		};
		assert.equal(errors, undefined);
		assert.match(data.user.name, /^Marigold /);
		assert.equal(data.user.boards.nodes.length, 2);
		for (const { name, pins } of data.user.boards.nodes) {
			assert.match(name, /^[A-Z]/);
			assert.equal(pins.nodes.length, 2);
			for (const { details } of pins.nodes) assert.ok(details.length > 10);
		}
	});

	it("prints the demo user's token on a terminal only: what it prints elsewhere is kept", () => {
		const token = "a-token";
		const shown = (showsToken: boolean) =>
			banner({
				url,
				graphiql: true,
				folder: null,
				strict: false,
				showsToken,
				firstQuery: "{ viewer { id } }",
				demo: { username: "marigold_01", token } as Demo,
			});
		assert.ok(shown(true).includes(`Token      ${token}\n`));
		assert.equal(shown(false).includes(token), false);
	});

	it("serves GraphiQL's page and all its files to a browser, and JSON to a program", async () => {
		const page = await fetch(`${url}/graphql`, {
			headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
		});
		assert.equal(page.status, 200);
		assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
		const html = await page.text();
		assert.match(html, /<title>Corkboard: GraphiQL<\/title>/);
		const files = [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)];
		assert.ok(files.length >= 2);
		for (const [, path = ""] of files) {
			assert.match(path, /^\/graphiql\//);
			const file = await fetch(`${url}${path}`);
			assert.equal(file.status, 200);
			assert.ok((await file.arrayBuffer()).byteLength > 100);
		}
		const json = await fetch(`${url}/graphql?query={viewer{id}}`, {
			headers: { "apollo-require-preflight": "1" },
		});
		assert.deepEqual(await json.json(), { data: { viewer: null } });
	});

	it("is live and ready", async () => {
		for (const [path, status] of [
			["live", "live"],
			["ready", "ready"],
		]) {
			const response = await fetch(`${url}/health/${path}`);
			assert.equal(response.status, 200);
			assert.deepEqual(await response.json(), { status });
		}
	});

	it("locks its folder: a second process that writes exits with 1 and names the first by pid", async () => {
		for (const args of [["serve"], ["import", "-"], ["verify", "--repair"]]) {
			const run = args[0] === "serve" ? runProgram : runHere;
			assert.deepEqual(await run(args, { env }), {
				code: 1,
				signal: null,
				out: "",
				err: `corkboard: The data folder ${folder.path} is in use by process ${server.pid}.\n`,
			});
		}
		assert.equal((await fetch(`${url}/health/ready`)).status, 200);
	});

	it("allows commands that only read its folder meanwhile", async () => {
		const { code, out } = await runHere(["tokens", "create", "marigold_01"], {
			env,
		});
		assert.equal(code, 0);
		assert.deepEqual(
			await client(url, out.trim()).data("{ viewer { username } }"),
			{ viewer: { username: "marigold_01" } },
		);
		assert.deepEqual(await client(url).data("{ viewer { username } }"), {
			viewer: null,
		});
	});

	it("exits with 0 on SIGTERM, and the second start creates no second demo graph", async () => {
		const interests = "{ interests(first: 0) { totalCount } }";
		const whole = await client(url).data<{
			interests: { totalCount: number };
		}>(interests);
		assert.ok(whole.interests.totalCount > 5);
		server.send("SIGTERM");
		const { code, signal, err } = await server.ended;
		assert.deepEqual({ code, signal }, { code: 0, signal: null });
		assert.doesNotMatch(err, /unexpected|Error/);
		assert.equal(existsSync(join(folder.path, "owner.pid")), false);

		await using second = startProgram(["serve"], { env });
		const again = await welcomed(second);
		const seconds = cpuSecondsOf(second.pid);
		assert.ok(
			seconds < firstStart,
			`expected less CPU time than the ${firstStart} s of the first start but got: ${seconds} s`,
		);
		assert.equal(second.err(), "");
		assert.deepEqual(await client(again).data(interests), whole);
		assert.equal(bannerValue(second, "Demo user"), "marigold_01");
	});
});

describe("a first start that is killed", () => {
	it("is completed by the next start, to the same graph", async () => {
		using cutFolder = temporaryFolder();
		using wholeFolder = temporaryFolder();
		const settings = { PORT: "0", CORKBOARD_GRAPHIQL: "off" };
		const cut = { ...settings, CORKBOARD_DATA: cutFolder.path };
		const whole = { ...settings, CORKBOARD_DATA: wholeFolder.path };
		await importDemo(wholeFolder.path);
		{
			await using first = startProgram(["serve"], { env: cut });
			await until(
				"some of the graph to be there",
				() => countRows(cutFolder.path, "users") > 0,
			);
			first.send("SIGKILL");
			assert.equal((await first.ended).signal, "SIGKILL");
			assert.doesNotMatch(first.out(), /Ctrl-C stops it/, "not all is there");
		}
		{
			await using second = startProgram(["serve"], { env: cut });
			await welcomed(second);
			assert.match(second.err(), /Importing a demo graph/);
			second.send("SIGTERM");
			assert.equal((await second.ended).code, 0);
		}
		const counts: (string | undefined)[] = [];
		for (const env of [cut, whole]) {
			const { code, out } = await runHere(["verify"], { env });
			assert.equal(code, 0, out);
			// Lookups are counted apart: some belong to the import.
			counts.push(/^[\d,]+ objects, [\d,]+ edges, [\d,]+ lists/.exec(out)?.[0]);
		}
		assert.ok(counts[0]);
		assert.equal(counts[0], counts[1]);
	});
});

describe("a server that ends", () => {
	const folder = temporaryFolder();
	after(() => folder[Symbol.dispose]());

	it("says for a while that it is not ready, and serves new connections as before; a second signal ends that", async () => {
		await using reserved = await reservePort();
		await reserved[Symbol.asyncDispose]();
		const admin = `127.0.0.1:${reserved.port}`;
		await using server = await serve({
			CORKBOARD_DATA: folder.path,
			CORKBOARD_SHUTDOWN_DELAY: "300",
			CORKBOARD_ADMIN: admin,
		});
		const statusOf = async (path: string) =>
			(await fetch(`${server.url}${path}`)).status;
		const adminSays = async (path: string) =>
			(await fetch(`http://${admin}${path}`)).json();
		assert.equal(await statusOf("/health/ready"), 200);
		await until(
			"the same on its admin address",
			async () => (await adminSays("/health/ready")).status === "ready",
		);
		assert.deepEqual(await adminSays("/health/live"), { status: "live" });
		server.send("SIGTERM");
		await until(
			"a server that is not ready",
			async () => (await statusOf("/health/ready")) === 503,
		);
		await until(
			"the same on its admin address",
			async () => (await adminSays("/health/ready")).status === "draining",
		);
		// The signal has arrived by now, however busy the machine is.
		const arrivedAt = performance.now();
		using fresh = await openSocket(server.url);
		fresh.write(postText("{ __typename }"));
		await until("its answer", () => fresh.statuses().length === 1);
		assert.deepEqual(fresh.statuses(), [200]);
		assert.equal(await statusOf("/health/live"), 200);
		// npm forwards a signal too: one within a second is taken for the same.
		await until("a second", () => performance.now() - arrivedAt > 1_100);
		server.send("SIGTERM");
		assert.equal((await server.ended).code, 143);
	});

	/** A POST of which the server has the headers, and waits for the body. */
	async function halfOf(server: Served, body: string) {
		const pending = request(`${server.url}/graphql`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				"content-length": Buffer.byteLength(body),
				expect: "100-continue",
			},
		});
		pending.flushHeaders();
		await once(pending, "continue", { signal: AbortSignal.timeout(LIMIT_MS) });
		return pending;
	}

	for (const signal of ["SIGTERM", "SIGINT"] as const) {
		it(`by ${signal} completes running requests, accepts no more, and exits with 0`, async () => {
			await using server = await serve({
				CORKBOARD_DATA: folder.path,
				CORKBOARD_SHUTDOWN_DELAY: "1",
			});
			const body = JSON.stringify({
				query: "{ interests(first: 0) { totalCount } }",
			});
			const pending = await halfOf(server, body);
			server.send(signal);
			await refusing(server.url);

			pending.end(body);
			const [response] = await once(pending, "response", {
				signal: AbortSignal.timeout(LIMIT_MS),
			});
			assert.equal(response.statusCode, 200);
			assert.equal(response.headers.connection, "close");
			assert.deepEqual(JSON.parse(await text(response)), {
				data: { interests: { totalCount: 0 } },
			});
			const { code, signal: by } = await server.ended;
			assert.deepEqual({ code, by }, { code: 0, by: null });
			assert.match(
				server.out(),
				/stopping: not ready, and serving.*stopping: requests in progress are finished first/s,
			);
		});
	}

	/** Until nobody listens there any more. */
	function refusing(url: string): Promise<void> {
		return until(`${url} to refuse connections`, async () => {
			const status = await fetch(`${url}/health/ready`).then(
				(response) => response.status,
				() => null,
			);
			assert.ok(status === null || [200, 503].includes(status), `${status}`);
			return status === null;
		});
	}

	it("continues after its output is closed, until a signal ends it", async () => {
		await using server = await serve({ CORKBOARD_DATA: folder.path });
		await welcomed(server);
		server.stdout.destroy();
		const query = "{ interests(first: 0) { totalCount } }";
		for (let n = 0; n < 3; n++) await client(server.url).data(query);
		const { code, err } = await server.stop();
		assert.deepEqual({ code, err }, { code: 0, err: "" });
	});
});

describe("serve", () => {
	it("on a busy port prints one sentence, exits with 1, imports no demo graph, and unlocks the folder", async () => {
		using folder = temporaryFolder();
		const busy = createServer().listen(0, "127.0.0.1");
		await once(busy, "listening");
		const { port } = busy.address() as { port: number };
		const env = {
			CORKBOARD_DATA: folder.path,
			CORKBOARD_GRAPHIQL: "off",
		};
		try {
			for (const [demo, run] of [
				["on", runProgram],
				["off", runHere],
			] as const) {
				const set = { ...env, CORKBOARD_DEMO: demo, PORT: String(port) };
				assert.deepEqual(await run(["serve"], { env: set }), {
					code: 1,
					signal: null,
					out: "",
					err: `corkboard: Port ${port} on 127.0.0.1 is used by another program. Stop it, or set PORT to a free port.\n`,
				});
			}
		} finally {
			busy.close();
		}
		lockFolder(folder.path)[Symbol.dispose]();
	});

	it("prints every problem of its settings at once, exits with 1, and creates nothing", async () => {
		using folder = temporaryFolder();
		const data = join(folder.path, "data");
		const { code, out, err } = await runHere(["serve"], {
			env: {
				PORT: "99999",
				CORKBOARD_DATA: data,
				CORKBOARD_MODE: "prod",
				CORKBOARD_DEMO: "no",
				CORKBOARD_SECRET: "hunter2",
				CORKBOARD_GRAPHIQL: "1",
				CORKBOARD_MAX_COST: "-1",
				CORKBOARD_CORS: "example.com",
				CORKBOARD_LOG: "loud",
				CORKBOARD_TRUST_PROXY: "maybe",
				CORKBOARD_COST: "1",
			},
		});
		assert.deepEqual({ code, out }, { code: 1, out: "" });
		const lines = err.trimEnd().split("\n");
		for (const name of [
			"CORKBOARD_COST is not a setting",
			"PORT must be a port from 0 to 65535",
			"CORKBOARD_MODE must be development or production",
			"CORKBOARD_DEMO must be on or off",
			"CORKBOARD_SECRET must have at least 32 bytes",
			"CORKBOARD_GRAPHIQL must be on or off",
			"CORKBOARD_MAX_COST must be an integer",
			"CORKBOARD_CORS must be origins",
			"CORKBOARD_LOG must be a level",
			"CORKBOARD_TRUST_PROXY must be off, on",
		]) {
			const reported = lines.filter((line) =>
				line.startsWith(`corkboard: ${name}`),
			);
			assert.equal(reported.length, 1, `${name} in:\n${err}`);
		}
		assert.equal(lines.length, 10, err);
		assert.doesNotMatch(err, /hunter2/);
		assert.equal(existsSync(data), false);
	});

	it("--check reports good settings, schema and topology, and creates nothing", async () => {
		using folder = temporaryFolder();
		const data = join(folder.path, "data");
		assert.deepEqual(
			await runHere(["serve", "--check"], { env: { CORKBOARD_DATA: data } }),
			{
				code: 0,
				signal: null,
				out: "good: settings, schema (7 types, as locked), topology (version 1), shards (created at the first start)\n",
				err: "",
			},
		);
		assert.equal(existsSync(data), false);
	});
});
