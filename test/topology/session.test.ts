import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { describe, it } from "node:test";
import { ZookeeperSession } from "../../src/topology/zookeeper/session.ts";
import { until } from "../helpers/until.ts";

/** What a client says first: https://zookeeper.apache.org, ConnectRequest. */
interface Greeting {
	readonly id: bigint;
	readonly socket: Socket;
}

/** Takes connections as a server of an ensemble, and gives each the session that `idFor` says. */
async function fakeServer(idFor: (asked: bigint, nth: number) => bigint) {
	const greetings: Greeting[] = [];
	/** Bytes that came after the greeting. */
	const sent: Buffer[] = [];
	const server = createServer((socket) => {
		socket.once("data", (bytes) => {
			// Length, protocol, last zxid, timeout, session, password.
			const id = bytes.readBigInt64BE(4 + 4 + 8 + 4);
			greetings.push({ id, socket });
			const answer = Buffer.alloc(4 + 4 + 4 + 8 + 4 + 16 + 1);
			answer.writeInt32BE(answer.length - 4, 0);
			answer.writeInt32BE(4_000, 8);
			answer.writeBigInt64BE(idFor(id, greetings.length), 12);
			answer.writeInt32BE(16, 20);
			socket.write(answer);
			socket.on("data", (more) => void sent.push(more));
		});
		socket.on("error", () => {});
	});
	await new Promise<void>((resolve) =>
		server.listen(0, "127.0.0.1", () => resolve()),
	);
	const address = server.address();
	const port = typeof address === "object" ? address?.port : 0;
	return {
		greetings,
		sent,
		address: `127.0.0.1:${port}`,
		[Symbol.dispose]() {
			for (const { socket } of greetings) socket.destroy();
			server.close();
		},
	};
}

function open(address: string) {
	const news: boolean[] = [];
	const session = new ZookeeperSession({
		servers: [address],
		auth: null,
		timeoutMs: 4_000,
		onConnected: (isNew) => void news.push(isNew),
		onChange: () => {},
	});
	return { session, news };
}

describe("a session of ZooKeeper", () => {
	it("is asked for again after a connection broke, and nothing is announced anew when it is given", async () => {
		using server = await fakeServer(() => 7n);
		const { session, news } = open(server.address);
		await until("connected", () => news.length === 1);
		server.greetings[0]?.socket.destroy();
		await until("connected again", () => news.length === 2);
		assert.deepEqual(news, [true, false]);
		assert.deepEqual(
			server.greetings.map(({ id }) => id),
			[0n, 7n],
		);
		// Nothing closed it meanwhile: that takes with it what was announced.
		assert.equal(Buffer.concat(server.sent).length, 0);
		server.greetings[1]?.socket.destroy();
		await session[Symbol.asyncDispose]();
	});

	it("that a server replaces by another without a word counts as new, so that all is announced and watched again", async () => {
		using server = await fakeServer((_, nth) => BigInt(nth));
		const { session, news } = open(server.address);
		await until("connected", () => news.length === 1);
		server.greetings[0]?.socket.destroy();
		await until("connected again", () => news.length === 2);
		assert.deepEqual(news, [true, true]);
		server.greetings[1]?.socket.destroy();
		await session[Symbol.asyncDispose]();
	});
});
