import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { client } from "../helpers/client.ts";
import { type Served, serve } from "../helpers/program.ts";
import { openSocket, postText, type RawSocket } from "../helpers/rawSocket.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const SOCKETS = 20;
const REQUESTS = 3_000;
/** Requests of one connection that are answered: up to the limit, and a refusal; some more where they do not arrive at once. */
const ANSWERED = 30;
const QUERY = '{ user(by: {username: "nobody"}) { id } }';

/** What the process holds in memory. */
function residentMb({ pid }: Served): number {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** The longest of some requests, one after the other, in milliseconds. */
async function slowestOf(count: number, { url }: Served): Promise<number> {
	let slowest = 0;
	for (let n = 0; n < count; n++) {
		const began = performance.now();
		const { status } = await client(url).post(QUERY);
		assert.equal(status, 200);
		slowest = Math.max(slowest, performance.now() - began);
	}
	return slowest;
}

const completed = ({ out }: Served) =>
	[...out().matchAll(/request completed/g)].length;

suite("a server whose clients pipeline requests without reading", () => {
	const folder = temporaryFolder();
	let served: Served;
	before(async () => {
		served = await serve({
			CORKBOARD_DATA: folder.path,
			// One address takes seven eighths of them.
			CORKBOARD_MAX_REQUESTS_IN_PROGRESS: String(
				Math.floor((2 * SOCKETS * 8) / 7),
			),
		});
	});
	after(async () => {
		await served[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** Sends far more than is answered on each connection. */
	async function attack(): Promise<readonly RawSocket[]> {
		const sockets: RawSocket[] = [];
		for (let n = 0; n < SOCKETS; n++) {
			const socket = await openSocket(served.url);
			socket.pause();
			socket.write(postText(QUERY).repeat(REQUESTS));
			sockets.push(socket);
		}
		return sockets;
	}

	test("answers others about as soon as without them, and takes little memory", async () => {
		await slowestOf(50, served);
		const quietMs = await slowestOf(50, served);
		const quietMb = residentMb(served);
		const before = completed(served);
		const sockets = await attack();
		let mostMb = 0;
		let slowestMs = 0;
		let own = 0;
		for (let n = 0; n < 20; n++) {
			slowestMs = Math.max(slowestMs, await slowestOf(5, served));
			const health = await fetch(`${served.url}/health/ready`);
			assert.equal(health.status, 200);
			mostMb = Math.max(mostMb, residentMb(served));
			own += 6;
			await sleep(50);
		}
		await until("a line of the log", () => /overload/.test(served.out()));
		const others = completed(served) - before - own;
		for (const socket of sockets) socket[Symbol.dispose]();
		assert.ok(slowestMs < 2_000 + 20 * quietMs, `${slowestMs} ms`);
		assert.ok(mostMb < quietMb + 200, `${mostMb} MB, before ${quietMb} MB`);
		assert.ok(others <= SOCKETS * ANSWERED, `${others} requests`);
	});

	test("is as before when they are gone, however often they come", async () => {
		for (let round = 0; round < 3; round++) {
			const sockets = await attack();
			await slowestOf(1, served);
			for (const socket of sockets) socket[Symbol.dispose]();
		}
		// More than are allowed at a time, were any place lost.
		await Promise.all(
			Array.from({ length: 2 * SOCKETS }, () => slowestOf(2, served)),
		);
	});
});
