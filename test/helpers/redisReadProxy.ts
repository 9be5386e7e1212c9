import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A proxy in front of two Redis that sends MGET to one and everything else to the
 * other, as proxies do that read from replicas. RESP2.
 */
export async function startRedisReadProxy(
	writes: number,
	reads: number,
): Promise<AsyncDisposable & { readonly url: string }> {
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const servers = [writes, reads].map((port) => connect(port, "127.0.0.1"));
		for (const socket of [client, ...servers]) {
			sockets.add(socket);
			socket.setNoDelay(true);
			socket.on("error", () => {});
			socket.on("close", () => client.destroy());
		}
		client.on("close", () => {
			for (const socket of servers) socket.destroy();
		});
		const received = new Map(servers.map((each) => [each, Buffer.alloc(0)]));
		/** The servers whose replies are due, in order. */
		const due: Socket[] = [];
		const pass = () => {
			for (let from = due[0]; from !== undefined; from = due[0]) {
				const bytes = received.get(from) ?? Buffer.alloc(0);
				const end = endOf(bytes, 0);
				if (end === -1) return;
				client.write(bytes.subarray(0, end));
				received.set(from, bytes.subarray(end));
				due.shift();
			}
		};
		for (const each of servers) {
			each.on("data", (bytes) => {
				received.set(each, Buffer.concat([received.get(each) ?? bytes, bytes]));
				pass();
			});
		}
		let sent = Buffer.alloc(0);
		client.on("data", (bytes) => {
			sent = Buffer.concat([sent, bytes]);
			for (let end = endOf(sent, 0); end !== -1; end = endOf(sent, 0)) {
				const command = sent.subarray(0, end);
				const isRead = /^\*\d+\r\n\$4\r\nmget\r\n/i.test(
					command.toString("latin1"),
				);
				const to = servers[isRead ? 1 : 0] as Socket;
				due.push(to);
				to.write(command);
				sent = sent.subarray(end);
			}
		});
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	return {
		url: `redis://127.0.0.1:${port}`,
		async [Symbol.asyncDispose]() {
			const closed = once(server, "close");
			server.close();
			for (const socket of sockets) socket.destroy();
			await closed;
		},
	};
}

/** Where the value that begins there ends; -1 if it is not whole. */
function endOf(bytes: Buffer, at: number): number {
	const line = bytes.indexOf("\r\n", at);
	if (line === -1) return -1;
	const kind = String.fromCharCode(bytes[at] ?? 0);
	const count = Number(bytes.toString("latin1", at + 1, line));
	let end = line + 2;
	if (kind === "$" && count >= 0) {
		end += count + 2;
		return end <= bytes.length ? end : -1;
	}
	for (let nth = 0; kind === "*" && nth < count; nth++) {
		end = endOf(bytes, end);
		if (end === -1) return -1;
	}
	return end;
}
