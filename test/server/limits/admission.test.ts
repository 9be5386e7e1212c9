import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FastifyBaseLogger } from "fastify";
import { listen } from "../../../src/diagnostics.ts";
import { SERVER_CHANNELS } from "../../../src/server/diagnostics.ts";
import { Refusals } from "../../../src/server/http/refusals.ts";
import { Admission } from "../../../src/server/limits/admission.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { openSocket, postText } from "../../helpers/rawSocket.ts";
import { startToy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";

suite("a process with as many requests in progress as allowed", () => {
	async function startHolding(limit = 3) {
		const held: (() => void)[] = [];
		const toy = await startToy({
			maxRequestsInProgress: limit,
			async execute() {
				await new Promise<void>((resolve) => held.push(resolve));
				return { data: { hello: "" } };
			},
		});
		const running = Array.from({ length: limit }, () =>
			toy.post({ query: "{ hello }" }),
		);
		await until("the operations", () => held.length === limit);
		return {
			toy,
			running,
			held: () => held.length,
			release() {
				for (const end of held.splice(0)) end();
			},
			[Symbol.asyncDispose]: () => toy.server.close(),
		};
	}

	test("answers 503 with Retry-After to others, and its health checks as ever", async () => {
		await using full = await startHolding();
		const { toy } = full;
		const response = await toy.post(
			{ query: "{ hello }" },
			{ accept: "application/graphql-response+json" },
		);
		assert.equal(response.status, 503);
		assert.equal(response.headers.get("retry-after"), "1");
		assert.equal(
			response.headers.get("content-type"),
			"application/graphql-response+json; charset=utf-8",
		);
		assert.deepEqual(await response.json(), {
			errors: [
				{
					message:
						"The server has as many requests in progress as it may. Retry in 1 s.",
					extensions: { code: "UNAVAILABLE" },
				},
			],
		});
		for (const path of ["live", "ready"]) {
			const health = await fetch(`${toy.server.url}/health/${path}`);
			assert.equal(health.status, 200);
		}
		full.release();
		for (const answer of full.running) {
			assert.equal((await answer).status, 200);
		}
	});

	test("has places again when they end, also by errors and disconnects", async () => {
		await using full = await startHolding();
		const { toy } = full;
		full.release();
		await Promise.all(full.running);
		for (let round = 0; round < 4; round++) {
			const invalid = await toy.post({ query: "{ nothing }" });
			assert.equal(invalid.status, 200);
			const denied = await toy.post(
				{ query: "{ hello }" },
				{ authorization: "Bearer none" },
			);
			assert.equal(denied.status, 401);
			const unknown = await toy.post({ documentId: "none" });
			assert.equal(unknown.status, 400);
		}
		for (let n = 0; n < 3; n++) {
			using socket = await openSocket(toy.server.url);
			socket.write(postText("{ hello }"));
			await until("its operation", () => full.held() === n + 1);
		}
		// Once the operations are aborted, whether or not they end by themselves.
		await until("three places", async () => {
			const statuses = await Promise.all(
				["{ a }", "{ b }", "{ c }"].map(
					async (query) => (await toy.post({ query })).status,
				),
			);
			return statuses.every((status) => status === 200);
		});
	});

	test("is not filled by clients that send or read slowly", async () => {
		await using toy = await startToy({ maxRequestsInProgress: 1 });
		const slow = await Promise.all(
			Array.from({ length: 3 }, () => openSocket(toy.server.url)),
		);
		for (const socket of slow) socket.write(postText("{ hello }").slice(0, -1));
		await fetch(`${toy.server.url}/health/live`);
		const response = await toy.post({ query: "{ hello }" });
		assert.equal(response.status, 200);
		for (const socket of slow) {
			socket.write("}");
			await until("a response", () => socket.statuses()[0] === 200);
			socket[Symbol.dispose]();
		}
	});

	test("refuses on a connection that goes on, whether or not the body has come", async () => {
		await using full = await startHolding();
		const { toy } = full;
		using socket = await openSocket(toy.server.url);
		const whole = postText("{ hello }");
		const half = whole.length - 10;
		socket.write(whole);
		await until("the first", () => socket.statuses().length === 1);
		socket.write(whole.slice(0, half));
		await until("the second", () => socket.statuses().length === 2);
		socket.write(whole.slice(half) + whole + whole);
		await until("the others", () => socket.statuses().length === 4);
		full.release();
		await Promise.all(full.running);
		socket.write(whole);
		await until("an operation", () => full.held() === 1);
		full.release();
		await until("its response", () => socket.statuses().length === 5);
		assert.deepEqual(socket.statuses(), [503, 503, 503, 503, 200]);
		assert.equal(socket.received().match(/retry-after: 1\r\n/g)?.length, 4);
	});

	test("refuses on a connection that ends, or whose client waits to send the body, and ends it", async () => {
		await using full = await startHolding();
		const { toy } = full;
		const whole = postText("{ hello }");
		const head = whole.slice(0, whole.indexOf("\r\n\r\n") + 2);
		using waiting = await openSocket(toy.server.url);
		waiting.write(`${head}expect: 100-continue\r\n\r\n`);
		await waiting.closed;
		assert.match(waiting.received(), /^HTTP\/1\.1 503 .*connection: close/is);
		for (const last of [
			`${head}connection: close${whole.slice(head.length - 2)}`,
			whole.replace("HTTP/1.1", "HTTP/1.0"),
		]) {
			using ending = await openSocket(toy.server.url);
			ending.write(last);
			await ending.closed;
			assert.match(ending.received(), /^HTTP\/1\.1 503 .*connection: close/is);
		}
		full.release();
		await Promise.all(full.running);
	});

	test("hands nothing of a refused request on to the next one of its connection", async () => {
		await using full = await startHolding();
		const { toy } = full;
		using socket = await openSocket(toy.server.url);
		const { length } = JSON.stringify({ query: "{ hello }" });
		const chunked = postText("{ hello }")
			.replace("/graphql", "/graphql?a=")
			.replace(/content-length: \d+/, "transfer-encoding: chunked")
			.replace(
				/\r\n\r\n(.*)$/s,
				`\r\n\r\n${length.toString(16)}\r\n$1\r\n0\r\nauthorization: Bearer none\r\n\r\n`,
			);
		socket.write(chunked);
		await until("the first", () => socket.statuses().length === 1);
		full.release();
		await Promise.all(full.running);
		socket.write(postText("{ hello }"));
		await until(
			"an operation, or an error",
			() => full.held() === 1 || socket.statuses().length === 2,
		);
		full.release();
		await until("its response", () => socket.statuses().length === 2);
		assert.deepEqual(socket.statuses(), [503, 200]);
	});

	test("refuses HEAD without a body, which would be taken for the next response", async () => {
		await using full = await startHolding();
		using socket = await openSocket(full.toy.server.url);
		socket.write("HEAD /graphql?query={hello} HTTP/1.1\r\nhost: a\r\n\r\n");
		socket.write(postText("{ hello }"));
		await until("both", () => socket.statuses().length === 2);
		assert.match(
			socket.received(),
			/^HTTP\/1\.1 503 [^{]*\r\n\r\nHTTP\/1\.1 503 /,
		);
		full.release();
		await Promise.all(full.running);
	});

	test("refuses with the headers of any other response", async () => {
		await using full = await startHolding();
		const { toy } = full;
		const origin = "http://localhost:1";
		const headersOf = async (sent: Readonly<Record<string, string>>) => {
			const { status, headers } = await toy.post({ query: "{ hello }" }, sent);
			const {
				date: _,
				"content-length": __,
				// HTTP/1.1 means them, and Node says them.
				connection: ___,
				"keep-alive": ____,
				"x-request-id": id,
				...all
			} = Object.fromEntries(headers);
			return { status, all, id };
		};
		const refused = await headersOf({ origin });
		const without = await headersOf({});
		full.release();
		await Promise.all(full.running);
		const invalid = await headersOf({ origin, "content-encoding": "none" });
		assert.equal(refused.status, 503);
		assert.equal(invalid.status, 415);
		const { "retry-after": _, ...rest } = refused.all;
		const { "accept-encoding": __, ...expected } = invalid.all;
		assert.deepEqual(rest, expected);
		assert.equal(rest["access-control-allow-origin"], origin);
		assert.equal(without.all["access-control-allow-origin"], undefined);
		assert.notEqual(refused.id, without.id);
	});

	test("says so in the log once a second at most", async () => {
		await using full = await startHolding();
		const { toy } = full;
		let published = 0;
		using _listening = listen(SERVER_CHANNELS.request, ({ status }) => {
			if (status === 503) published++;
		});
		const began = performance.now();
		for (let n = 0; n < 50; n++) await toy.post({ query: "{ hello }" });
		assert.equal(published, 50);
		const overloads = () => toy.lines.filter(({ msg }) => msg === "overload");
		const counted = () =>
			overloads().reduce((sum, { requests }) => sum + Number(requests), 0);
		await until("all counted", () => counted() === 50);
		const seconds = (performance.now() - began) / 1_000;
		assert.ok(overloads().length <= seconds + 1);
		assert.ok(!toy.lines.some(({ msg }) => msg === "request completed"));
		full.release();
		await Promise.all(full.running);
	});
});

/** A process whose clock and whose turns of the event loop are ours. */
function openAdmission(limit = Number.POSITIVE_INFINITY) {
	let now = 0;
	const calls: (() => void)[] = [];
	const ticks: (() => void)[] = [];
	const log = { warn() {} } as unknown as FastifyBaseLogger;
	const admission = new Admission(
		{ limit, deadlineMs: 10_000 },
		new Refusals(log),
		() => now,
		(call) => calls.push(call),
		(call) => ticks.push(call),
	);
	const started: string[] = [];
	const refused: string[] = [];
	return {
		admission,
		started,
		refused,
		time: () => now,
		pass(ms: number) {
			now += ms;
		},
		/** A request of `key` whose start takes so long. */
		send(key: string, ms = 1) {
			admission.enter();
			admission.awaitStart(key, {
				start() {
					started.push(key);
					now += ms;
				},
				refuse() {
					refused.push(key);
					admission.leave(null);
				},
			});
		},
		/** One turn of the event loop, in which others take so long first, and what they call comes before what we do. */
		turn(othersMs = 0, others = () => {}) {
			now += othersMs;
			for (const call of [others, ...calls.splice(0)]) {
				call();
				while (ticks.length > 0) ticks.shift()?.();
			}
		},
		end(key: string) {
			admission.leave(key);
		},
	};
}

suite("the admission of requests", () => {
	test("starts all that came in one turn, if that takes no time", () => {
		const { send, turn, started, admission } = openAdmission();
		for (let n = 0; n < 1_000; n++) send("anybody", 0.001);
		assert.equal(started.length, 0, "what came back goes first");
		turn();
		assert.equal(started.length, 1_000);
		assert.equal(admission.waiting, 0);
	});

	test("starts requests for 1 ms of a turn, and the rest in the next ones", () => {
		const { send, turn, started } = openAdmission();
		for (let n = 0; n < 10; n++) send("anybody", 0.25);
		for (const sum of [4, 8, 10]) {
			turn();
			assert.equal(started.length, sum);
		}
	});

	test("starts requests for 1 ms of each turn, also if others came before them in it", () => {
		const { send, turn, started } = openAdmission();
		const sendTen = () => {
			for (let n = 0; n < 10; n++) send("anybody", 0.25);
		};
		sendTen();
		turn(0, sendTen);
		for (const sum of [8, 12]) {
			turn(0, () => send("anybody", 0.25));
			assert.equal(started.length, sum);
		}
	});

	test("starts requests for 3 ms of a turn while more than 32 wait", () => {
		const { send, turn, started } = openAdmission();
		for (let n = 0; n < 36; n++) send("anybody", 1);
		for (const sum of [3, 6, 7, 8]) {
			turn();
			assert.equal(started.length, sum);
		}
	});

	test("starts each with what the one before it had to wait for that can be done", async () => {
		const order: string[] = [];
		const log = { warn() {} } as unknown as FastifyBaseLogger;
		const admission = new Admission(
			{ limit: 3, deadlineMs: 10_000 },
			new Refusals(log),
		);
		const all = [1, 2, 3].map((n) => {
			const { promise, resolve } = Promise.withResolvers<void>();
			admission.enter();
			admission.awaitStart("anybody", {
				async start() {
					order.push(`start ${n}`);
					for (let wait = 0; wait < 5; wait++) await null;
					order.push(`end ${n}`);
					resolve();
				},
				refuse() {},
			});
			return promise;
		});
		await Promise.all(all);
		assert.equal(
			order.join(", "),
			[1, 2, 3].map((n) => `start ${n}, end ${n}`).join(", "),
		);
	});

	test("starts requests for 1 ms of a turn that took long for others", () => {
		const { send, turn, started } = openAdmission();
		for (let n = 0; n < 10; n++) send("anybody", 0.25);
		turn();
		assert.equal(started.length, 4);
		turn(100);
		assert.equal(started.length, 8);
	});

	test("starts one however long the one before it took", () => {
		const { send, turn, started } = openAdmission();
		for (let n = 0; n < 3; n++) send("anybody", 500);
		for (const sum of [1, 2, 3]) {
			turn();
			assert.equal(started.length, sum);
		}
	});

	test("refuses nothing of what comes at once after a pause", () => {
		const { send, turn, started, refused } = openAdmission();
		for (let n = 0; n < 400; n++) send("anybody", 1);
		for (let n = 0; n < 200; n++) turn();
		assert.equal(started.length, 400);
		assert.deepEqual(refused, []);
	});

	/** Requests whose start takes a millisecond come at a share of what can be started, while the process is stopped now and then. */
	function offer(
		share: number,
		{
			seconds,
			pauseMs = 0,
			everyMs = Number.POSITIVE_INFINITY,
			inARow = 1,
			limit = 500,
		}: {
			readonly seconds: number;
			readonly pauseMs?: number;
			readonly everyMs?: number;
			/** Pauses with 300 ms between them. */
			readonly inARow?: number;
			readonly limit?: number;
		},
	) {
		const opened = openAdmission(limit);
		const { admission, send, turn, pass, end, started, refused } = opened;
		const begun = opened.time();
		let due = begun;
		let pause = begun + everyMs;
		let pauses = 0;
		let most = 0;
		let ended = 0;
		/** By second. */
		const refusals: number[] = [];
		let before = 0;
		while (opened.time() < begun + seconds * 1_000) {
			if (opened.time() >= pause) {
				pass(pauseMs);
				pauses++;
				pause += pauses % inARow === 0 ? everyMs : pauseMs + 300;
			}
			for (; due <= opened.time(); due += 1 / share) {
				if (!admission.isFull()) send(`${Math.floor(due) % 100}`, 1);
				else refused.push("full");
			}
			turn();
			if (started.length === ended) pass(0.5);
			for (; ended < started.length; ended++) end(started[ended] as string);
			const second = Math.floor((opened.time() - begun) / 1_000);
			refusals[second] = (refusals[second] ?? 0) + refused.length - before;
			before = refused.length;
			if (second > 1) most = Math.max(most, admission.waiting);
		}
		return { refusals, most, started: started.length };
	}

	test("refuses nothing below what it carries, though the process is stopped for half a second now and then", () => {
		for (const share of [0.5, 0.7]) {
			const { refusals, started } = offer(share, {
				seconds: 100,
				pauseMs: 500,
				everyMs: 20_000,
			});
			assert.equal(Math.max(...refusals), 0, `at ${share}`);
			assert.ok(started > share * 99_000);
		}
	});

	test("refuses nothing of a queue that it works off, also if that takes longer than a second", () => {
		for (const [share, pauseMs] of [
			[0.8, 700],
			[0.9, 400],
		] as const) {
			const { refusals } = offer(share, {
				seconds: 60,
				pauseMs,
				everyMs: 20_000,
				limit: 1_000,
			});
			assert.equal(Math.max(...refusals), 0, `at ${share}`);
		}
	});

	test("refuses nothing below what it carries, though one pause follows on another before the queue is empty", () => {
		for (const [share, pauseMs, inARow] of [
			[0.5, 500, 2],
			[0.5, 500, 3],
			[0.5, 250, 6],
			[0.7, 500, 2],
		] as const) {
			const { refusals } = offer(share, {
				seconds: 60,
				pauseMs,
				everyMs: 15_000,
				inARow,
			});
			assert.equal(Math.max(...refusals), 0, `${inARow} of ${pauseMs} ms`);
		}
	});

	test("lets what comes wait for a second without an empty queue, and then refuses what would wait longer than a tenth of one", () => {
		for (const share of [2, 4]) {
			const { refusals, most, started } = offer(share, {
				seconds: 10,
				limit: 10_000,
			});
			const [first, second, ...later] = refusals;
			assert.equal(first, 0);
			// With those that had come in the first.
			assert.ok((second as number) > (share - 1) * 1_800, `${second}`);
			for (const each of later.slice(0, -1)) {
				assert.ok(Math.abs(each - (share - 1) * 1_000) < 50, `${each}`);
			}
			assert.ok(most > 80 && most <= 110, `${most} waited`);
			assert.ok(started > 9_900);
		}
	});

	/**
	 * Like a real server: requests differ in what they take and wait for databases,
	 * garbage is collected, everything takes longer for a while after a pause, and
	 * requests come in bursts. Clients have so many connections, and hold back what
	 * finds none free. Without a rate, each connection sends when it was answered.
	 */
	function serve({
		rate,
		seconds,
		connections,
		seed,
		pauseMs = 0,
		everyMs = Number.POSITIVE_INFINITY,
	}: {
		/** A millisecond. */
		readonly rate: number | null;
		readonly seconds: number;
		readonly connections: number;
		readonly seed: number;
		readonly pauseMs?: number;
		readonly everyMs?: number;
	}) {
		const random = seededRandom(seed);
		const around = (mean: number) => -Math.log(1 - random.fraction()) * mean;
		const { admission, time, pass, turn } = openAdmission(500);
		let pause = everyMs;
		let collection = around(2_500);
		let slowUntil = 0;
		/** Takes so long, or longer, and is stopped in the midst of it. */
		const work = (ms: number) => {
			pass(time() < slowUntil ? 1.8 * ms : ms);
			if (time() >= collection) {
				pass(20 + 60 * random.fraction());
				collection = time() + around(2_500);
			}
			if (time() < pause) return;
			pass(pauseMs);
			pause += everyMs;
			slowUntil = time() + 100 + 200 * random.fraction();
		};
		let due = 0;
		let burst = 0;
		let sent = rate === null ? connections : 0;
		let free = connections - sent;
		let heldBack = 0;
		let waiting: { readonly until: number; readonly next: () => void }[] = [];
		let answered = 0;
		let longest = 0;
		/** By second. */
		const refusals: number[] = new Array(seconds).fill(0);
		const ended = () => {
			if (rate === null) sent++;
			else if (heldBack > 0) {
				heldBack--;
				sent++;
			} else free++;
		};
		const arrive = () => {
			for (; rate !== null && due <= time(); burst--) {
				// A hundredth begin bursts, of which ten come on average.
				due += burst > 0 ? 0.02 : around(1.1 / rate);
				if (burst <= 0 && random.chance(0.01)) burst = random.integer(1, 20);
				if (free > 0) {
					free--;
					sent++;
				} else heldBack++;
			}
		};
		const refuse = () => {
			const second = Math.floor(time() / 1_000);
			refusals[second] = (refusals[second] ?? 0) + 1;
			ended();
		};
		const ask = () => {
			const key = `${random.integer(1, 1_200)}`;
			work(0.03);
			if (admission.isRefused(() => key)) return refuse();
			work(0.04);
			admission.enter();
			let reads = random.pick([0, 0, 0, 0, 1, 1, 1, 2, 2, 5]);
			const goOn = () => {
				work(around(0.3));
				if (reads-- > 0) {
					waiting.push({ until: time() + 0.4 + around(0.6), next: goOn });
					return;
				}
				answered++;
				admission.leave(key);
				ended();
			};
			admission.awaitStart(key, {
				start: goOn,
				refuse() {
					admission.leave(null);
					refuse();
				},
			});
		};
		while (time() < seconds * 1_000) {
			arrive();
			const back = waiting.filter(({ until }) => until <= time());
			waiting = waiting.filter((one) => !back.includes(one));
			work(back.length + sent === 0 ? 0.1 : 0.03);
			for (const { next } of back) next();
			for (let n = sent; n > 0; n--) {
				sent--;
				ask();
			}
			turn();
			if (time() > 3_000) longest = Math.max(longest, admission.waiting);
		}
		return { answered, refusals, longest };
	}

	/** A second, of a closed loop. */
	const carried = () =>
		serve({ rate: null, seconds: 60, connections: 16, seed: 1 }).answered / 60;

	test("refuses nothing below what a server carries that is as uneven as real ones, and whose clients hold requests back", () => {
		const most = carried();
		for (const share of [0.5, 0.7]) {
			for (const connections of [most / 5, Number.POSITIVE_INFINITY]) {
				const { refusals } = serve({
					rate: (share * most) / 1_000,
					seconds: 600,
					connections: Math.floor(connections),
					seed: 2,
					pauseMs: 500,
					everyMs: 20_000,
				});
				const all = refusals.reduce((sum, each) => sum + each, 0);
				assert.equal(all, 0, `at ${share}, ${connections} connections`);
			}
		}
	});

	test("knows an overload of such a server in its second second", () => {
		const most = carried();
		const seconds = 6;
		for (const times of [2, 4]) {
			for (let seed = 1; seed <= 4; seed++) {
				const { answered, refusals, longest } = serve({
					rate: (times * most) / 1_000,
					seconds,
					connections: Number.POSITIVE_INFINITY,
					seed,
				});
				const [, second, ...later] = refusals;
				const more = (times - 1) * most;
				assert.ok((second as number) > more, `${refusals}`);
				for (const each of later.slice(0, seconds - 2)) {
					assert.ok(each > 0.8 * more, `${refusals}`);
				}
				assert.ok(longest < 0.2 * most, `${longest} waited`);
				assert.ok(answered > 0.7 * seconds * most, `${answered}`);
			}
		}
	});

	test("refuses what would wait beyond its deadline also of a queue that it has worked off for a second", () => {
		const { send, turn, refused, admission, time } = openAdmission();
		for (let n = 0; n < 1_500; n++) send(`${n % 50}`, n < 600 ? 2 : 20);
		while (time() < 1_200) turn();
		assert.deepEqual(refused, []);
		for (let n = 0; n < 100; n++) turn();
		assert.ok(admission.waiting <= 500, `${admission.waiting} wait`);
		assert.ok(refused.length > 100);
	});

	test("knows an overload that begins with a pause once no place is left", () => {
		const limit = 500;
		const { send, turn, started, refused, admission, time, end } =
			openAdmission(limit);
		let senders = 0;
		const sendMore = (count: number) => {
			for (let n = 0; n < count; n++) {
				if (!admission.isFull()) send(`${senders++}`);
			}
		};
		// What came in the pause.
		sendMore(4 * limit);
		while (time() < 1_200) {
			sendMore(8);
			turn();
			for (const key of started.splice(0)) end(key);
		}
		assert.ok(refused.length > 0);
		assert.ok(admission.waiting <= 120, `${admission.waiting} wait`);
	});

	test("refuses at once what would wait beyond its deadline", () => {
		const { send, turn, refused, admission } = openAdmission();
		for (let n = 0; n < 40; n++) {
			send("anybody", 20);
			turn();
			send("anybody", 20);
		}
		assert.deepEqual(refused, []);
		for (let n = 0; n < 600; n++) send("anybody", 20);
		assert.ok(admission.waiting <= 500, `${admission.waiting} wait`);
		assert.ok(refused.length > 100);
	});

	test("counts the time that others take into what it can start", () => {
		const { send, turn, refused, admission } = openAdmission();
		let most = 0;
		for (let n = 0; n < 400; n++) {
			for (let each = 0; each < 10; each++) send("anybody", 0.6);
			turn(7);
			if (n > 100) most = Math.max(most, admission.waiting);
		}
		// 5 in 10 ms, so 50 in 100.
		assert.ok(most > 40 && most <= 59, `${most} waited`);
		assert.ok(refused.length > 1_000);
	});

	test("refuses none of a few, however long they wait", () => {
		const { send, turn, refused, admission } = openAdmission();
		for (let n = 0; n < 32; n++) send("anybody", 50);
		for (let n = 0; n < 100; n++) {
			turn();
			if (admission.waiting < 32) send("anybody", 50);
		}
		assert.deepEqual(refused, []);
	});

	test("takes a turn in which the process was paused for no measure", () => {
		const { send, turn, refused } = openAdmission();
		for (let n = 0; n < 300; n++) {
			// What came meanwhile.
			if (n % 100 === 50) for (let each = 0; each < 60; each++) send("a", 1);
			for (let each = 0; each < 2; each++) send("a", 1);
			turn(n % 100 === 50 ? 150 : 0);
		}
		assert.deepEqual(refused, []);
	});

	test("refuses the latest of senders who have as many that wait", () => {
		const { send, turn, refused } = openAdmission();
		for (let n = 0; n < 500; n++) {
			for (let each = 0; each < 6; each++) {
				const before = refused.length;
				send(`${n} ${each}`, 1);
				if (refused.length > before) {
					assert.equal(refused.at(-1), `${n} ${each}`);
				}
			}
			turn();
		}
		assert.ok(refused.length > 100);
	});

	test("refuses as it arrives what would only take the place of another of its sender", () => {
		const { send, turn, pass, admission } = openAdmission();
		const isRefused = (key: string) => admission.isRefused(() => key);
		assert.equal(isRefused("flood"), false);
		for (let n = 0; n < 500; n++) {
			for (let each = 0; each < 6; each++) send("flood", 1);
			turn();
		}
		// As many wait as may.
		for (let n = 0; n < 6; n++) send("flood", 1);
		assert.equal(isRefused("flood"), false, "first it is looked at");
		pass(3);
		assert.equal(isRefused("flood"), true);
		assert.equal(isRefused("another"), false);
		send("another", 1);
		assert.equal(isRefused("another"), false);
		for (let n = 0; n < 4; n++) turn();
		assert.equal(isRefused("flood"), false, "they were started");
	});

	test("looks at what arrives in the first 3 ms of each turn, and at all where nothing waits", () => {
		const { send, turn, pass, admission } = openAdmission();
		assert.equal(admission.mayLookEarly(), true);
		pass(10);
		assert.equal(admission.mayLookEarly(), true);
		for (let n = 0; n < 10; n++) send("anybody", 0.25);
		for (let n = 0; n < 3; n++) {
			assert.equal(admission.mayLookEarly(), true);
			pass(2.9);
			assert.equal(admission.mayLookEarly(), true);
			pass(0.1);
			assert.equal(admission.mayLookEarly(), false);
			turn();
		}
		assert.equal(admission.waiting, 0);
		assert.equal(admission.mayLookEarly(), true);
	});

	test("looks at no more in a turn in which 4 more were not kept than were", () => {
		const { send, turn, admission } = openAdmission();
		for (let n = 0; n < 10; n++) send("anybody", 1);
		for (const isKept of [false, false, true, false, false, false]) {
			assert.equal(admission.mayLookEarly(), true);
			admission.countLook(isKept);
		}
		assert.equal(admission.mayLookEarly(), false);
		turn();
		assert.equal(admission.mayLookEarly(), true);
	});

	test("lets senders take turns, and refuses the one with most that wait", () => {
		const { send, turn, started, refused } = openAdmission();
		let sent = 0;
		for (let n = 0; n < 400; n++) {
			for (let each = 0; each < 24; each++) send("flood", 0.25);
			if (n % 10 === 0) {
				send(`light ${n}`, 0.25);
				sent++;
			}
			turn();
			const isLate = (key: string) => !started.includes(key);
			assert.ok(n % 10 !== 0 || !isLate(`light ${n}`), "in the same turn");
		}
		assert.equal(started.filter((key) => key !== "flood").length, sent);
		assert.deepEqual(new Set(refused), new Set(["flood"]));
	});

	test("leaves an eighth of the places to others than one sender", () => {
		const { admission, send, turn, started, refused, end } = openAdmission(80);
		for (let n = 0; n < 79; n++) send("flood", 0);
		turn();
		assert.equal(started.length, 70);
		assert.equal(refused.length, 9);
		assert.equal(admission.count, 70);
		send("another", 0);
		turn();
		assert.equal(started.at(-1), "another");
		send("flood", 0);
		turn();
		assert.equal(refused.length, 10);
		end("flood");
		end("flood");
		send("flood", 0);
		turn();
		assert.equal(started.at(-1), "flood");
	});

	test("gives one sender all places where there are few", () => {
		for (const limit of [1, 3, 7]) {
			const { send, turn, started } = openAdmission(limit);
			for (let n = 0; n < limit; n++) send("anybody", 0);
			turn();
			assert.equal(started.length, limit);
		}
	});
});
