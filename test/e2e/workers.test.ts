import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join as pathOf } from "node:path";
import { json } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { MAX_AGE_MS } from "../../src/cache/entryAges.ts";
import { metricsIn, panelsOf, readAlerts } from "../deploy/monitoring.ts";
import { join, type Member, made } from "../helpers/member.ts";
import {
	type Environment,
	type Program,
	runProgram,
	startProgram,
} from "../helpers/program.ts";
import { command, runHere } from "../helpers/runCommand.ts";
import { IS_SLOW_RUN } from "../helpers/slowRun.ts";
import { until } from "../helpers/until.ts";
import { reservePort } from "../services/port.ts";
import { queryPrometheus, startPrometheus } from "../services/prometheus.ts";
import { redisClients } from "../services/redisClients.ts";
import type { Server } from "../services/server.ts";
import { type OwnServices, startServices } from "../services/startServices.ts";

/** A connection that is kept, and so one worker's: the primary hands out connections, not requests. */
interface Seat {
	readonly pid: number;
	/** Returns the data of an operation, the request's id, and the worker's rate limit header. */
	ask(query: string): Promise<{
		readonly id: unknown;
		readonly data: unknown;
		readonly remaining: number;
	}>;
}

/** Whose series begin with the first of what they count, which no test of this file causes. Those of queues do so, too: test/metrics/metrics.test.ts has them. */
const BEGIN_LATER: ReadonlySet<string> = new Set([
	"corkboard_outbox_failures_total",
	"corkboard_outbox_left_entry_age_seconds",
	"corkboard_database_connection_waits_total",
	"corkboard_database_connection_wait_seconds_total",
]);

describe("serve --workers 2, on MySQL, memcached and Redis", () => {
	const stack = new AsyncDisposableStack();
	let services: OwnServices;
	let redis: Server;
	let program: Program;
	let env: Environment;
	let url: string;
	let ada: Member;

	let admin: number;

	before(async () => {
		admin = stack.use(await reservePort()).port;
		services = stack.use(
			await startServices({ mysql: 1, memcached: 1, redis: 1 }),
		);
		const [mysql] = services.mysql;
		const [memcached] = services.memcached;
		assert.ok(mysql && memcached && services.redis[0]);
		redis = services.redis[0];
		const topology = pathOf(redis.folder, "topology.json");
		const range = { range: [0, 1], primary: mysql.url };
		await writeFile(
			topology,
			JSON.stringify({
				version: 1,
				shards: [{ ...range, open: true }],
				lookups: [range],
			}),
		);
		env = {
			PORT: "0",
			HOST: "127.0.0.1",
			CORKBOARD_TOPOLOGY: topology,
			CORKBOARD_MEMCACHED: memcached.address,
			CORKBOARD_REDIS: redis.url,
			CORKBOARD_SECRET: "a secret of at least 32 bytes for tests",
			CORKBOARD_LOG: "info,json",
			CORKBOARD_RATE_LIMIT: "5000/hour",
			CORKBOARD_ADMIN: `127.0.0.1:${admin}`,
			// Each write takes longer, and is kept for `explain --trace`.
			CORKBOARD_SLOW: "1",
		};
		const init = await runHere(["init"], { env });
		assert.equal(init.code, 0, init.err);
		program = stack.use(startProgram(["serve", "--workers", "2"], { env }));
		await until("two workers", () => listening().length === 2);
		const [, port] =
			/Server listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(program.out()) ??
			[];
		url = `http://127.0.0.1:${port}`;
		ada = await join(url, "ada_works");
	});
	after(() => stack.disposeAsync());

	const lines: Readonly<Record<string, unknown>>[] = [];
	let parsed = 0;
	/** Parses what has come since the last call only: it is asked for again and again. */
	function logged(): readonly Readonly<Record<string, unknown>>[] {
		const out = program.out();
		const end = out.lastIndexOf("\n") + 1;
		for (const line of out.slice(parsed, end).split("\n")) {
			if (line !== "") lines.push(JSON.parse(line));
		}
		parsed = end;
		return lines;
	}

	/** The processes that came as far as serving, in that order. */
	function listening(): readonly number[] {
		const pids = logged()
			.filter(({ msg }) => String(msg).startsWith("Server listening"))
			.map(({ pid }) => Number(pid));
		return [...new Set(pids)];
	}

	async function post(agent: Agent, query: string) {
		const asked = Promise.withResolvers<{
			id: unknown;
			data: unknown;
			remaining: number;
		}>();
		request(
			`${url}/graphql`,
			{
				agent,
				method: "POST",
				headers: { "content-type": "application/json" },
				timeout: 60_000,
			},
			(response) => {
				const { headers } = response;
				json(response).then((body) => {
					const { data, errors } = body as Record<string, unknown>;
					assert.equal(errors, undefined, JSON.stringify(errors));
					asked.resolve({
						id: headers["x-request-id"],
						data,
						remaining: Number(/;r=(\d+)/.exec(String(headers.ratelimit))?.[1]),
					});
				}, asked.reject);
			},
		)
			.on("error", asked.reject)
			.end(JSON.stringify({ query }));
		return asked.promise;
	}

	/** Who answered is in the log, under the id that the answer came with. */
	async function sit(): Promise<Seat> {
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		stack.defer(() => agent.destroy());
		const { id } = await post(agent, "{ __typename }");
		const line = () => logged().find(({ reqId }) => reqId === id);
		await until("the request's line", () => line() !== undefined);
		return {
			pid: Number(line()?.pid),
			ask: (query) => post(agent, query),
		};
	}

	/** One seat at each of these processes. */
	async function seatsAt(pids: readonly number[]): Promise<readonly Seat[]> {
		const seats = new Map<number, Seat>();
		await until(`an answer of each of ${pids}`, async () => {
			const seat = await sit();
			if (!seats.has(seat.pid)) seats.set(seat.pid, seat);
			return pids.every((pid) => seats.has(pid));
		});
		return pids.map((pid) => seats.get(pid) as Seat);
	}

	/** Answers how long it took (ms) from a read of the old name to reads of the new one. */
	async function agree(seats: readonly Seat[], board: string): Promise<number> {
		const query = `{ board(id: "${board}") { name } }`;
		const nameAt = async ({ ask }: Seat) =>
			((await ask(query)).data as { board: { name: string } }).board.name;
		// Both have it in memory before it changes.
		const began = performance.now();
		const [first] = await Promise.all(seats.map(nameAt));
		const name = `${first}+`;
		await made(ada, "updateBoard", { boardId: board, name }, "board");
		for (const seat of seats) {
			await until(`${name} at ${seat.pid}`, async () => {
				return (await nameAt(seat)) === name;
			});
		}
		return performance.now() - began;
	}

	/** Sooner than what was read has aged, because Redis carries each invalidation. The best of a few: the machine may be busy. */
	async function agreeSoon(
		seats: readonly Seat[],
		board: string,
	): Promise<void> {
		const took: number[] = [];
		for (let n = 0; n < 4; n++) took.push(await agree(seats, board));
		assert.ok(Math.min(...took) < MAX_AGE_MS, `${took} ms`);
	}

	it("serves the metrics of both workers together", async () => {
		const agents = Array.from({ length: 6 }, () => new Agent());
		const scrape = async () => {
			const response = await fetch(`http://127.0.0.1:${admin}/metrics`);
			assert.equal(response.status, 200);
			return response.text();
		};
		const requests = (text: string) =>
			[...text.matchAll(/^corkboard_requests_total\{.*\} (\d+)$/gm)].reduce(
				(sum, [, count]) => sum + Number(count),
				0,
			);
		const before = requests(await scrape());
		for (const agent of agents) {
			await post(agent, "{ __typename }");
			agent.destroy();
		}
		const after = await scrape();
		assert.equal(requests(after) - before, agents.length);
		// Not the sum of both.
		assert.match(after, /^corkboard_topology_version 1$/m);
		const cpu = /^process_cpu_user_seconds_total ([\d.]+)$/m.exec(after)?.[1];
		assert.ok(Number(cpu) > 0);
	});

	it("is live and ready on the admin address, where a worker is", async () => {
		for (const status of ["live", "ready"]) {
			const response = await fetch(
				`http://127.0.0.1:${admin}/health/${status}`,
			);
			assert.equal(response.status, 200);
			assert.deepEqual(await response.json(), { status });
		}
	});

	it("answers requests in both workers, and each soon reads what the other writes", async () => {
		const board = await made(ada, "createBoard", { name: "b" }, "board");
		const seats = await seatsAt(listening());
		assert.equal(new Set(seats.map(({ pid }) => pid)).size, 2);
		assert.ok(seats.every(({ pid }) => pid !== program.pid));
		// Changes come by connections of their own, so by either.
		await agreeSoon(seats, board);
	});

	it("counts the requests of an address over both workers", async () => {
		const [one, other] = (await seatsAt(listening())) as [Seat, Seat];
		const left = async (seat: Seat) =>
			(await seat.ask("{ __typename }")).remaining;
		// If Redis does not answer within its deadline, as on busy cores, a worker counts alone.
		await until("20 of the other are counted", async () => {
			const before = await left(one);
			for (let n = 0; n < 20; n++) await left(other);
			const used = before - (await left(one));
			// But for what came in meanwhile, one or two a second.
			return used > 10 && used <= 21;
		});
	});

	it("explains a request by its id, whichever worker answered it", async () => {
		const seats = await seatsAt(listening());
		for (const [n, { pid, ask }] of seats.entries()) {
			const { id } = await ask(
				`mutation Traced { createUser(input: {username: "traced_${n}"}) { user { id } } }`,
			);
			const { code, out, err } = await command(
				["explain", "--trace", String(id), "--json"],
				{ env },
			);
			assert.equal(code, 0, `${pid}: ${err}`);
			const { request, explain } = JSON.parse(out);
			assert.deepEqual([request.reqId, request.operation], [id, "Traced"]);
			assert.ok(explain.statements > 0);
		}
		const absent = await command(["explain", "--trace", "nobody"], { env });
		assert.equal(absent.code, 1);
		assert.match(absent.err, /keeps no request with the id nobody/);
	});

	it("opens two connections to Redis in each worker, whatever they are for", async () => {
		// A worker has a cache, a rate limit, documents and a channel there.
		await seatsAt(listening());
		const { normal, pubsub } = await redisClients(redis);
		assert.deepEqual({ normal, pubsub }, { normal: 2, pubsub: 2 });
	});

	it("replaces a killed worker while the other one keeps serving", async () => {
		const board = await made(ada, "createBoard", { name: "c" }, "board");
		const [victim, survivor] = (await seatsAt(listening())) as [Seat, Seat];
		process.kill(victim.pid, "SIGKILL");
		const [line] = await program.printed("out", /^.*"worker ended".*$/m);
		const { worker, signal } = JSON.parse(line);
		assert.deepEqual([worker, signal], [victim.pid, "SIGKILL"]);
		// Nothing but JSON is there, in all that two workers and their primary said.
		for (const said of program.out().trimEnd().split("\n")) JSON.parse(said);
		assert.equal(program.err(), "");
		await survivor.ask(`{ board(id: "${board}") { name } }`);
		await until("another", () => listening().length === 3);
		const successor = listening().at(-1) as number;
		const seats = await seatsAt([survivor.pid, successor]);
		await agreeSoon(seats, board);
	});

	it("has in its scrape every metric that a dashboard or an alert names", async () => {
		const text = await (
			await fetch(`http://127.0.0.1:${admin}/metrics`)
		).text();
		const panels = panelsOf("10s");
		const expressions = [
			...panels.flatMap((panel) => panel.expressions),
			...readAlerts().map(({ expression }) => expression),
		];
		const names = new Set(expressions.flatMap(metricsIn));
		assert.ok(names.size > 50);
		const missing = [...names].filter(
			(name) =>
				!new RegExp(`^# TYPE ${name} `, "m").test(text) ||
				!(
					BEGIN_LATER.has(name) ||
					/^corkboard_(changes|dump|feed|move|queue|standby)_/.test(name) ||
					new RegExp(`^${name}(_count)?(\\{| )`, "m").test(text)
				),
		);
		assert.deepEqual(missing, []);
		if (!IS_SLOW_RUN) return;
		await using prometheus = await startPrometheus(`127.0.0.1:${admin}`);
		const isUp = async () =>
			(await queryPrometheus(prometheus, 'up{job="corkboard"} == 1')).length ===
			1;
		await until("a scrape", isUp);
		for (const expression of expressions) {
			await queryPrometheus(prometheus, expression);
		}
		const oldest = await queryPrometheus(
			prometheus,
			"max by (host) (corkboard_outbox_oldest_entry_age_seconds)",
		);
		assert.deepEqual(
			oldest.map(({ metric }) => metric.host),
			services.mysql.map(({ address }) => address),
		);
	});

	it("ends with exit code 1 and a sentence when the admin address is taken", async () => {
		const second = await runProgram(["serve", "--workers", "2"], { env });
		assert.equal(second.code, 1);
		assert.match(
			second.err,
			/^corkboard: Port \d+ on 127\.0\.0\.1, for CORKBOARD_ADMIN, is used by another program\. Set another one\.\n$/,
		);
	});

	it("ends with exit code 1 and a sentence when its workers cannot listen on the port", async () => {
		const second = await runProgram(["serve", "--workers", "2"], {
			env: { ...env, PORT: new URL(url).port, CORKBOARD_ADMIN: "" },
		});
		assert.equal(second.code, 1);
		assert.match(second.err, /is used by another program/);
		assert.match(
			second.err,
			/corkboard: A worker could not start: it ended with exit code 1 before it served\. Its messages are above\.\n$/,
		);
	});

	it("ends all workers on SIGTERM (exit code 0), with what they counted of usage in Redis", async () => {
		const [, ...alive] = listening();
		const seats = await seatsAt(alive);
		assert.equal(seats.length, 2);
		for (const seat of [...seats, ...seats, ...seats]) {
			await seat.ask("query AtTheEnd { interests(first: 1) { totalCount } }");
		}
		const began = performance.now();
		program.send("SIGTERM");
		const { code, signal, err } = await program.ended;
		// By themselves: the primary kills them after 35 s.
		assert.ok(performance.now() - began < 34_900);
		assert.deepEqual({ code, signal }, { code: 0, signal: null }, err);
		for (const pid of alive) {
			assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
		}
		// What both counted is in Redis, and a process that asks for it needs no secret.
		const { CORKBOARD_SECRET: _, ...withoutSecret } = env;
		const usage = await runHere(["usage", "documents", "--json"], {
			env: withoutSecret,
		});
		assert.equal(usage.code, 0, usage.err);
		const { documents } = JSON.parse(usage.out) as {
			documents: { operation: string | null; requests: number }[];
		};
		const counted = documents.find(({ operation }) => operation === "AtTheEnd");
		assert.equal(counted?.requests, 6);
	});
});
