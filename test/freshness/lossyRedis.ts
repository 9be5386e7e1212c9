import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A link to a Redis that reads its protocol, and can lose messages of subscriptions: all else arrives. */
export class LossyRedis implements AsyncDisposable {
	readonly port: number;
	/** Whether messages are lost. */
	isLosing = false;
	/** How many were. */
	lost = 0;
	readonly #server: ReturnType<typeof createServer>;
	readonly #sockets = new Set<Socket>();

	private constructor(server: ReturnType<typeof createServer>) {
		this.#server = server;
		this.port = (server.address() as AddressInfo).port;
	}

	static async before(port: number): Promise<LossyRedis> {
		const server = createServer();
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const proxy = new LossyRedis(server);
		server.on("connection", (client) => {
			const upstream = connect(port, "127.0.0.1");
			for (const [from, to] of [
				[client, upstream],
				[upstream, client],
			] as const) {
				proxy.#sockets.add(from);
				from.setNoDelay(true);
				from.on("error", () => {});
				from.on("close", () => {
					proxy.#sockets.delete(from);
					to.destroy();
				});
			}
			client.on("data", (bytes) => upstream.write(bytes));
			let rest: Buffer = Buffer.alloc(0);
			upstream.on("data", (bytes) => {
				rest = Buffer.concat([rest, bytes]);
				for (;;) {
					const end = endOfReply(rest, 0);
					if (end === null) return;
					const reply = rest.subarray(0, end);
					rest = rest.subarray(end);
					if (proxy.isLosing && reply.includes("\r\n$7\r\nmessage\r\n")) {
						proxy.lost++;
					} else client.write(reply);
				}
			});
		});
		return proxy;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		for (const socket of this.#sockets) socket.destroy();
		await closed;
	}
}

/** Where the reply that begins at `at` ends; null if it is not complete. RESP2. */
function endOfReply(bytes: Buffer, at: number): number | null {
	const line = bytes.indexOf("\r\n", at);
	if (line < 0) return null;
	const kind = String.fromCharCode(bytes[at] ?? 0);
	const size = Number(bytes.toString("latin1", at + 1, line));
	let end = line + 2;
	if (kind === "$" && size >= 0) {
		end += size + 2;
		return end <= bytes.length ? end : null;
	}
	if (kind !== "*") return end;
	for (let left = size; left > 0; left--) {
		const next = endOfReply(bytes, end);
		if (next === null) return null;
		end = next;
	}
	return end;
}
