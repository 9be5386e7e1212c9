import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { createLog } from "../../src/server/log.ts";
import type { Span, Statement, Trace } from "../../src/trace.ts";
import { openConfiguredTraces } from "../../src/traces/openConfiguredTraces.ts";
import type { Traces } from "../../src/traces/openTraces.ts";
import {
	childrenOf,
	type OtlpServer,
	startOtlpServer,
	treeOf,
} from "../helpers/otlpServer.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, startFleet } from "../processes/fleet.ts";

const SPAN = "b7ad6b7169203331";
const HOSTILE = "a=1'*/;DROP DATABASE db00000;/*";

describe("traces on MySQL", () => {
	let fleet: Fleet;
	let collector: OtlpServer;
	let corkboard: Corkboard;
	let traces: Traces;
	let url: string;
	let resources: AsyncDisposableStack;
	before(async () => {
		await using stack = new AsyncDisposableStack();
		fleet = stack.use(await startFleet());
		collector = stack.use(await startOtlpServer());
		const folder = stack.use(temporaryFolder());
		const { topology, memcached, redis } = fleet.addresses;
		const file = join(folder.path, "topology.json");
		await writeFile(file, JSON.stringify(topology));
		const config = readConfig({
			PORT: "0",
			HOST: "127.0.0.1",
			CORKBOARD_TOPOLOGY: file,
			CORKBOARD_SECRET: "a secret of at least 32 bytes made up",
			CORKBOARD_MEMCACHED: memcached.join(","),
			CORKBOARD_REDIS: redis,
			OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
			OTEL_BSP_SCHEDULE_DELAY: "20",
		});
		traces = stack.use((await openConfiguredTraces(config)) as Traces);
		corkboard = stack.use(await openCorkboard(pinsApp, config));
		const log = createLog({
			level: "error",
			format: "json",
			destination: { write() {} },
		});
		({ url } = stack.use(
			await startCorkboardServer(corkboard, { log, traces }),
		));
		resources = stack.move();
	});
	after(() => resources?.disposeAsync());

	/** What the server logged of its statements while `body` ran. */
	async function logged(body: () => Promise<void>): Promise<readonly string[]> {
		const connection = await createConnection(
			(fleet.mysql[0] as { readonly url: string }).url,
		);
		try {
			await connection.query("SET GLOBAL log_output = 'TABLE'");
			await connection.query("TRUNCATE mysql.general_log");
			await connection.query("SET GLOBAL general_log = ON");
			await body();
			await connection.query("SET GLOBAL general_log = OFF");
			const [rows] = await connection.query<RowDataPacket[]>(
				"SELECT CONVERT(argument USING utf8mb4) AS text FROM mysql.general_log WHERE command_type = 'Query' ORDER BY event_time",
			);
			return rows.map(({ text }) => String(text));
		} finally {
			await connection.end();
		}
	}

	async function ask(
		traceId: string,
		query: string,
		headers: Record<string, string> = {},
	) {
		const response = await fetch(`${url}/graphql`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				traceparent: `00-${traceId}-${SPAN}-01`,
				...headers,
			},
			body: JSON.stringify({ query }),
		});
		return (await response.json()) as {
			readonly data: Record<string, { readonly user: { id: Id } }>;
		};
	}

	async function spansOf(traceId: string) {
		const find = () =>
			collector.spans.find(
				(one) => one.traceId === traceId && one.parentSpanId === SPAN,
			);
		await until("the span of the request", () => find() !== undefined);
		const root = find();
		assert.ok(root);
		return root;
	}

	const CREATE =
		'mutation { createUser(input: {username: "NAME"}) { user { id } } }';

	it("have the calls of caches and hosts below each step, and their id in the statements", async () => {
		const made = "1".repeat(32);
		const writes = await logged(async () => {
			await ask(made, CREATE.replace("NAME", "ada_traced"), {
				tracestate: HOSTILE,
			});
		});
		const root = await spansOf(made);
		const tree = treeOf(collector.spans, root).join("\n");
		assert.match(tree, /^ {2}call Mutation\.createUser\n {4}write/m);
		assert.match(tree, /^ {6}.*insert users/m);
		const commented = writes.filter((text) => text.includes(made));
		assert.ok(commented.some((text) => /^INSERT INTO/.test(text)));
		// Each names a span that arrived, at its end, and nothing of the client is outside of the values.
		const spanIds = new Set(collector.spans.map(({ spanId }) => spanId));
		for (const text of commented) {
			const [, spanId = "", state] =
				/\/\*traceparent='00-1{32}-([0-9a-f]{16})-01'(?:,tracestate='([\w%.-]+)')?\*\/;?$/.exec(
					text,
				) ?? [];
			assert.ok(spanIds.has(spanId), text);
			assert.equal(state && decodeURIComponent(state), state && HOSTILE);
		}

		// A process that has just started, or was held up for a second, does not use Redis for a moment.
		let tries = 0;
		await until("a read that asks Redis and then MySQL", async () => {
			tries++;
			const read = String(tries).padStart(32, "2");
			const name = `ada_${tries}`;
			const { data } = await ask("f".repeat(32), CREATE.replace("NAME", name));
			const user = data.createUser?.user.id;
			const reads = await logged(async () => {
				await ask(
					read,
					`{ user(by: {id: "${user}"}) { likes { totalCount } } }`,
				);
			});
			const root = await spansOf(read);
			const scan = childrenOf(collector.spans, root).find(
				({ name }) => name === "scan likePin",
			);
			assert.ok(scan);
			const [cache, statement, ...others] = childrenOf(collector.spans, scan);
			if (statement === undefined) return false;
			if (cache?.attributes["corkboard.cache.down"] === 1) return false;
			assert.equal(cache?.name, "redis get");
			assert.equal(cache?.attributes["corkboard.cache.lease"], 1);
			assert.equal(statement.name, "scan likePin");
			assert.match(
				String(statement.attributes["db.system.name"]),
				/^(mysql|mariadb)$/,
			);
			assert.deepEqual(others, []);
			assert.ok(
				reads.some((text) =>
					text.includes(`'00-${read}-${statement.spanId}-01'`),
				),
				reads.join("\n"),
			);
			return true;
		});
	});

	it("leave statements of requests that are not sampled as they are", async () => {
		const texts = await logged(async () => {
			await fetch(`${url}/graphql`, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					traceparent: `00-${"3".repeat(32)}-${SPAN}-00`,
				},
				body: JSON.stringify({
					query: CREATE.replace("NAME", "ada_not_sampled"),
				}),
			});
		});
		assert.ok(texts.some((text) => text.includes("INSERT INTO")));
		assert.ok(!texts.some((text) => text.includes("traceparent")));
	});

	it("name one of the requests that share a statement, and are in the traces of all", async () => {
		const { data } = await ask(
			"4".repeat(32),
			CREATE.replace("NAME", "ada_shared"),
		);
		const id = data.createUser?.user.id as Id;
		const ids = ["5", "6"].map((digit) => digit.repeat(32));
		const statements: Statement[][] = [[], [], []];
		const spans = ids.map(
			(traceId) =>
				traces.start(
					{ traceparent: `00-${traceId}-${SPAN}-01` },
					performance.now(),
				) as Span,
		);
		const texts = await logged(async () => {
			// The first is not sampled.
			const calls = [null, ...spans].map((span, n) =>
				corkboard.storage.read("objects", [id], {
					trace: traceOf(span, statements[n] as Statement[]),
				}),
			);
			await Promise.all(calls);
			for (const span of spans) span.end(null);
		});
		const shared = texts.filter((text) => text.includes("traceparent"));
		assert.equal(shared.length, 1);
		assert.ok(shared[0]?.includes(ids[0] as string));
		for (const own of statements) {
			assert.deepEqual(
				own.map(({ requests }) => requests),
				[3],
			);
		}
		const [first, second] = await Promise.all(ids.map(spansOf));
		assert.ok(first && second);
		const [one] = childrenOf(collector.spans, first);
		const [other] = childrenOf(collector.spans, second);
		assert.equal(one?.attributes["corkboard.merged.requests"], 3);
		assert.equal(other?.attributes["corkboard.merged.trace_id"], ids[0]);
		assert.equal(one?.name, other?.name);
	});

	it("take the same statement where one of the requests is explained, which describes it", async () => {
		const { data } = await ask(
			"7".repeat(32),
			CREATE.replace("NAME", "ada_explained"),
		);
		const id = data.createUser?.user.id as Id;
		const explained: Statement[] = [];
		const texts = await logged(async () => {
			const trace = {
				...traceOf(null, explained),
				isBrief: false,
			};
			await Promise.all([
				corkboard.storage.read("objects", [id], { trace }),
				corkboard.storage.read("objects", [id]),
			]);
		});
		assert.equal(
			texts.filter((text) => /\bFROM\b.*\busers\b/.test(text)).length,
			1,
		);
		const [statement, ...others] = explained;
		assert.deepEqual(others, []);
		assert.equal(statement?.requests, 2);
		const text = statement?.sql?.text ?? "";
		assert.match(text, /users/);
		assert.ok(!text.includes(id));
	});

	function traceOf(span: Span | null, into: Statement[]): Trace {
		return {
			span,
			isBrief: true,
			statement: (statement) => void into.push(statement),
			cache() {},
			hiddenEdges() {},
			startWrite: () => {
				throw new TypeError("nothing is written");
			},
		};
	}
});
