import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A link between a client and a server on 127.0.0.1 that can stall or be cut. */
export class TcpProxy implements AsyncDisposable {
	readonly port: number;
	/** Where new connections go. */
	#target: number;
	readonly #server: ReturnType<typeof createServer>;
	readonly #pairs: Set<readonly [client: Socket, server: Socket]>;
	readonly #held: {
		readonly bytes: Buffer | null;
		readonly pass: () => void;
	}[] = [];
	/** All, those that were open when it was said, all others, or none. */
	#holding:
		| "all"
		| ReadonlySet<Socket>
		| { readonly besides: ReadonlySet<Socket> }
		| "none" = "none";
	#isCut = false;
	/** How long what clients send is on its way. Milliseconds. */
	delayMs = 0;

	private constructor(
		server: ReturnType<typeof createServer>,
		pairs: Set<readonly [Socket, Socket]>,
		target: number,
	) {
		this.#target = target;
		this.#server = server;
		this.#pairs = pairs;
		this.port = (server.address() as AddressInfo).port;
	}

	static async to(port: number): Promise<TcpProxy> {
		const pairs = new Set<readonly [Socket, Socket]>();
		const server = createServer();
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		const proxy = new TcpProxy(server, pairs, port);
		server.on("connection", (client) => {
			if (proxy.#isCut) {
				client.destroy();
				return;
			}
			const upstream = connect(proxy.#target, "127.0.0.1");
			const pair = [client, upstream] as const;
			pairs.add(pair);
			client.setNoDelay(true);
			upstream.setNoDelay(true);
			client.on("data", (bytes) =>
				proxy.#pass(client, bytes, () => upstream.write(bytes)),
			);
			// What a client sent and then died of is on its way all the same.
			client.on("end", () => proxy.#pass(client, null, () => upstream.end()));
			upstream.on("data", (bytes) => client.write(bytes));
			upstream.on("end", () => client.end());
			upstream.on("close", () => {
				client.destroy();
				pairs.delete(pair);
			});
			client.on("error", () => {});
			upstream.on("error", () => {});
		});
		return proxy;
	}

	/** What clients send from now on is kept back, also that of clients that leave. */
	hold(): void {
		this.#holding = "all";
	}

	/** The same for the connections there are now; new ones are free. */
	holdOpen(): void {
		this.#holding = new Set([...this.#pairs].map(([client]) => client));
	}

	/** The same for new connections; those that are open are free. */
	holdNew(): void {
		this.#holding = { besides: new Set([...this.#pairs].map(([c]) => c)) };
	}

	/** What was kept back goes on to the server. */
	release(): void {
		this.#holding = "none";
		for (const { pass } of this.#held.splice(0)) pass();
	}

	/** Ends all connections, what was kept back is lost, and new ones are ended at once until `restore`. */
	cut(): void {
		this.#isCut = true;
		this.#holding = "none";
		this.#held.length = 0;
		for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
	}

	restore(): void {
		this.#isCut = false;
	}

	/** Leads new connections to another server: as a name does, the open ones stay where they are. */
	redirect(port: number): void {
		this.#target = port;
	}

	/** How many pieces are kept back. */
	get held(): number {
		return this.#held.length;
	}

	/** Whether what is kept back has this text in it. */
	holds(text: string): boolean {
		return this.#held.some(({ bytes }) => bytes?.includes(text));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
		await closed;
	}

	#pass(client: Socket, bytes: Buffer | null, pass: () => void): void {
		const holding = this.#holding;
		const isHeld =
			holding === "all" ||
			(holding !== "none" &&
				("besides" in holding
					? !holding.besides.has(client)
					: holding.has(client)));
		if (isHeld) this.#held.push({ bytes, pass });
		else if (this.delayMs > 0) setTimeout(pass, this.delayMs);
		else pass();
	}
}
