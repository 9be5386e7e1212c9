import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A link to a MySQL server that counts round trips on the wire: each packet that
 * begins a command is one, however many statements it holds.
 */
export class RoundTrips implements AsyncDisposable {
	/** The statements of each round trip, as sent. */
	readonly queries: string[] = [];
	readonly #server: ReturnType<typeof createServer>;
	readonly #sockets = new Set<Socket>();

	private constructor(server: ReturnType<typeof createServer>) {
		this.#server = server;
	}

	static async to(port: number): Promise<RoundTrips> {
		const server = createServer();
		const counter = new RoundTrips(server);
		server.on("connection", (client) => {
			const upstream = connect(port, "127.0.0.1");
			const packets = new ClientPackets((query) => counter.queries.push(query));
			client.on("data", (bytes) => {
				packets.read(bytes);
				upstream.write(bytes);
			});
			upstream.on("data", (bytes) => client.write(bytes));
			for (const socket of [client, upstream]) {
				counter.#sockets.add(socket);
				socket.setNoDelay(true);
				socket.on("error", () => {});
				socket.on("close", () => {
					client.destroy();
					upstream.destroy();
					counter.#sockets.delete(socket);
				});
			}
		});
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		return counter;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		this.#server.close();
		await once(this.#server, "close");
	}
}

const HEADER = 4;
const COM_QUERY = 3;

/** Reads the packets of one client: three bytes of length, a sequence number, the payload. */
class ClientPackets {
	readonly #onQuery: (text: string) => void;
	#bytes = Buffer.alloc(0);

	constructor(onQuery: (text: string) => void) {
		this.#onQuery = onQuery;
	}

	read(bytes: Buffer): void {
		this.#bytes = Buffer.concat([this.#bytes, bytes]);
		for (;;) {
			if (this.#bytes.length < HEADER) return;
			const end = HEADER + this.#bytes.readUIntLE(0, 3);
			if (this.#bytes.length < end) return;
			// The packets of the login have higher sequence numbers.
			const isCommand = this.#bytes[3] === 0;
			if (isCommand && this.#bytes[HEADER] === COM_QUERY) {
				this.#onQuery(this.#bytes.toString("utf8", HEADER + 1, end));
			}
			this.#bytes = this.#bytes.subarray(end);
		}
	}
}
