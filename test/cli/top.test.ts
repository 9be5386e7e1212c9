import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Between } from "../../src/cli/top/between.ts";
import { parseMetrics } from "../../src/cli/top/scrape.ts";
import { openTerminal } from "../../src/cli/top/terminal.ts";
import { topPage } from "../../src/cli/top/topPage.ts";
import { topReport } from "../../src/cli/top/topReport.ts";
import { serveDemo } from "../helpers/demoServer.ts";
import { command } from "../helpers/runCommand.ts";
import { timed } from "../helpers/timing.ts";
import { reservePort } from "../services/port.ts";

const BEFORE = `# HELP corkboard_requests_total Requests.
# TYPE corkboard_requests_total counter
corkboard_requests_total{way="short",operation_type="query",status="200"} 100
corkboard_requests_total{way="long",operation_type="query",status="200"} 10
corkboard_request_duration_seconds_bucket{le="0.01",way="short"} 50
corkboard_request_duration_seconds_bucket{le="0.1",way="short"} 100
corkboard_request_duration_seconds_bucket{le="+Inf",way="short"} 100
corkboard_document_requests_total{document="aaaaaaaaaaaa",operation="Home"} 5
corkboard_document_duration_seconds_total{document="aaaaaaaaaaaa",operation="Home"} 1
corkboard_database_up{host="db1:3306"} 1
corkboard_database_statements_total{host="gone:3306",statement="read"} 5
`;
const AFTER = `corkboard_requests_total{way="short",operation_type="query",status="200"} 120
corkboard_requests_total{way="long",operation_type="query",status="200"} 4
corkboard_errors_total{code="NOT_FOUND"} 2
corkboard_request_duration_seconds_bucket{le="0.01",way="short"} 60
corkboard_request_duration_seconds_bucket{le="0.1",way="short"} 120
corkboard_request_duration_seconds_bucket{le="+Inf",way="short"} 120
corkboard_document_requests_total{document="aaaaaaaaaaaa",operation="Home"} 15
corkboard_document_duration_seconds_total{document="aaaaaaaaaaaa",operation="Home"} 2
corkboard_document_requests_total{document="bbbbbbbbbbbb",operation="a \\"b\\\\\\n"} 1
corkboard_document_duration_seconds_total{document="bbbbbbbbbbbb",operation="a \\"b\\\\\\n"} 3
corkboard_database_up{host="db1:3306"} 0
corkboard_database_statements_total{host="gone:3306",statement="read"} 5
corkboard_database_failures_total{host="gone:3306",kind="timeout"} 1
corkboard_outbox_pending_entries{host="db1:3306"} 7
corkboard_outbox_oldest_entry_age_seconds{host="db1:3306"} 90
`;

const REPORT = topReport(
	new Between(
		{ samples: parseMetrics(BEFORE), at: 0 },
		{ samples: parseMetrics(AFTER), at: 2_000 },
	),
);

describe("the report of top", () => {
	test("has rates, quantiles and documents of the time between two scrapes", () => {
		const { requests, documents, hosts, outbox, topology } = REPORT;
		// The count of the long way began again: the server was restarted.
		assert.equal(requests.perSecond, (20 + 4) / 2);
		assert.deepEqual(requests.byWay, { short: 10, long: 2 });
		assert.deepEqual(requests.errors, { NOT_FOUND: 1 });
		assert.equal(requests.p50Ms, 10);
		assert.equal(requests.p99Ms, 10 + 90 * 0.98);
		assert.deepEqual(documents, [
			{
				document: "bbbbbbbbbbbb",
				operation: 'a "b\\\n',
				perSecond: 0.5,
				meanMs: 3_000,
				meanCost: null,
				share: 0.75,
			},
			{
				document: "aaaaaaaaaaaa",
				operation: "Home",
				perSecond: 5,
				meanMs: 100,
				meanCost: null,
				share: 0.25,
			},
		]);
		// No topology names the other any more, whose counters stay.
		assert.deepEqual(
			hosts.map(({ host }) => host),
			["db1:3306"],
		);
		const [host] = hosts;
		assert.deepEqual(
			[host?.up, host?.outboxPending, host?.statementsPerSecond],
			[false, 7, null],
		);
		assert.deepEqual([outbox.pending, outbox.oldestSeconds], [7, 90]);
		assert.equal(topology.version, null);
	});
});

describe("the page of top", () => {
	const page = {
		url: "http://127.0.0.1:9464",
		report: REPORT,
		failure: null,
		clock: "12:00:00",
	};

	test("fits every terminal, and ends with how to leave", () => {
		for (const [columns, rows] of [
			[200, 60],
			[80, 24],
			[40, 10],
			[10, 3],
		] as const) {
			const lines = topPage(page, { columns, rows });
			assert.ok(lines.length <= rows, `${columns} × ${rows}`);
			for (const line of lines) assert.ok(line.length <= columns, line);
			assert.match(lines.at(-1) ?? "", /^q quits/);
		}
	});

	test("shows what is down, what waits, and a dash for what is not known", () => {
		const text = topPage(page, null).join("\n");
		assert.match(text, /db1:3306 +DOWN/);
		assert.match(text, /outbox +pending 7, oldest 90 s/);
		assert.match(text, /topology –/);
		assert.match(text, /errors: NOT_FOUND 1\/s/);
		// A name cannot add a line.
		assert.match(text, /a "b\\\? +3,000 ms/);
	});

	test("says that the server does not answer, and keeps the last numbers", () => {
		const failure = { reason: "It is gone.", seconds: 12 };
		const [, second, ...rest] = topPage({ ...page, failure }, null);
		assert.equal(
			second,
			"NO ANSWER for 12 s; the numbers are from before. It is gone.",
		);
		assert.match(rest.join("\n"), /aaaaaaaaaaaa/);
	});
});

describe("the terminal of top", () => {
	test("is given back as it was, and reports keys and sizes", () => {
		const written: string[] = [];
		const modes: boolean[] = [];
		const input = Object.assign(new EventEmitter(), {
			isTTY: true,
			setRawMode: (mode: boolean) => void modes.push(mode),
			resume() {},
			pause() {},
		});
		const output = Object.assign(new EventEmitter(), {
			isTTY: true,
			columns: 100,
			rows: 30,
			write: (text: string) => written.push(text),
		});
		const keys: string[] = [];
		let resizes = 0;
		const exits = process.listenerCount("exit");
		{
			using terminal = openTerminal(
				{ input, output } as unknown as Parameters<typeof openTerminal>[0],
				{ key: (key) => keys.push(key), resize: () => resizes++ },
			);
			assert.deepEqual(terminal?.size(), { columns: 100, rows: 30 });
			terminal?.show(["a", "b"]);
			input.emit("data", Buffer.from("q"));
			output.emit("resize");
		}
		assert.deepEqual(keys, ["q"]);
		assert.equal(resizes, 1);
		assert.deepEqual(modes, [true, false]);
		assert.equal(written[0], "\x1b[?1049h\x1b[?25l");
		assert.equal(written[1], "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
		assert.equal(written.at(-1), "\x1b[?25h\x1b[?1049l");
		assert.equal(process.listenerCount("exit"), exits);
		assert.equal(input.listenerCount("data"), 0);
	});
});

describe("corkboard top", () => {
	test("prints once what a real server does, in the shape that docs/reference/commands.json shows", async () => {
		await using reserved = await reservePort();
		const { port } = reserved;
		await reserved[Symbol.asyncDispose]();
		const admin = `127.0.0.1:${port}`;
		await using server = await serveDemo({ CORKBOARD_ADMIN: admin });
		const load = setInterval(() => {
			void fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: '{"query":"query Loaded { interests(first: 1) { nodes { id } } }"}',
			}).then(
				(response) => response.text(),
				// The last ones meet the end of the server.
				() => {},
			);
		}, 50);
		try {
			const { code, out, err } = await command(
				["top", "--once", "--json", "--every", "1s"],
				{ env: { CORKBOARD_ADMIN: admin } },
			);
			assert.deepEqual({ code, err }, { code: 0, err: "" });
			const report = JSON.parse(out);
			assert.ok(report.requests.perSecond > 0);
			assert.ok(report.requests.p99Ms > 0);
			assert.equal(report.documents[0].operation, "Loaded");
			const examples = readFileSync(
				join(import.meta.dirname, "../../docs/reference/commands.json"),
				"utf8",
			);
			assertShape(report, JSON.parse(examples).top, "top");
			const text = await command(["top", "--once", "--url", `http://${admin}`]);
			assert.match(text.out, /^corkboard top {2}http:\/\/127\.0\.0\.1:/);
			assert.match(text.out, /^slowest document/m);
		} finally {
			clearInterval(load);
		}
	});

	test("ends at once when it has to, also while a server does not answer", async () => {
		let asked = 0;
		const quit = new AbortController();
		const silent = createServer(() => {
			asked++;
			quit.abort();
		});
		using _silent = {
			[Symbol.dispose]() {
				silent.close();
				silent.closeAllConnections();
			},
		};
		const url = await listening(silent);
		const { result, ownMs } = await timed(() =>
			command(["top", "--once", "--url", url], {
				interruptSignal: () => quit.signal,
			}),
		);
		assert.deepEqual(result, { code: 0, out: "", err: "" });
		assert.equal(asked, 1);
		// A scrape waits for an answer for five seconds.
		assert.ok(ownMs < 3_000, `${ownMs} ms`);
	});

	test("says what is wrong with its address, and that it needs a terminal", async () => {
		const nowhere = await command(["top", "--once"]);
		assert.equal(nowhere.code, 2);
		assert.match(nowhere.err, /Set CORKBOARD_ADMIN .* or give --url\./);
		await using reserved = await reservePort();
		const closed = `http://127.0.0.1:${reserved.port}`;
		const refused = await command(["top", "--once", "--url", closed]);
		assert.equal(refused.code, 1);
		assert.equal(
			refused.err,
			`corkboard: ${closed}/metrics does not answer: ECONNREFUSED.\n`,
		);
		const other = createServer((_, response) => response.end("hello\n"));
		using _other = { [Symbol.dispose]: () => void other.close() };
		const { err } = await command([
			"top",
			"--once",
			"--url",
			await listening(other),
		]);
		assert.match(err, /is not the admin address of a Corkboard server\.\n$/);
		const json = await command(["top", "--json", "--url", closed]);
		assert.deepEqual(
			[json.code, json.err],
			[2, "corkboard: --json needs --once.\n"],
		);
		for (const every of ["0s", "61s", "2", "x"]) {
			const { code } = await command([
				"top",
				"--every",
				every,
				"--url",
				closed,
			]);
			assert.equal(code, 2, every);
		}
	});
});

async function listening(server: Server): Promise<string> {
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Objects have the same names, at every depth; maps by name may have any. */
function assertShape(actual: unknown, shown: unknown, at: string): void {
	if (typeof actual !== "object" || typeof shown !== "object") return;
	if (actual === null || shown === null) return;
	if (/\.(byWay|errors|refused)$/.test(at)) return;
	if (Array.isArray(actual) && Array.isArray(shown)) {
		if (actual.length > 0) assertShape(actual[0], shown[0], `${at}[0]`);
		return;
	}
	assert.deepEqual(Object.keys(actual).sort(), Object.keys(shown).sort(), at);
	for (const [name, value] of Object.entries(shown)) {
		assertShape(
			(actual as Record<string, unknown>)[name],
			value,
			`${at}.${name}`,
		);
	}
}
