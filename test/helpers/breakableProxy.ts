import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * Between a client and a server on this machine, to break what is between them
 * at a chosen moment.
 */
export class BreakableProxy implements AsyncDisposable {
	readonly #server;
	readonly #links = new Set<Link>();
	/** What the server says after a client's words ended so is kept from that client. */
	silentAfter: string | null = null;
	/** How many connections there were. */
	connections = 0;

	private constructor(port: number) {
		this.#server = createServer((client) => {
			this.connections += 1;
			const link: Link = {
				client,
				server: connect(port, "127.0.0.1"),
				dead: false,
			};
			this.#links.add(link);
			let silent = false;
			client.on("data", (data) => {
				if (link.dead) {
					client.resetAndDestroy();
					return;
				}
				if (
					this.silentAfter !== null &&
					data.toString("latin1").endsWith(this.silentAfter)
				)
					silent = true;
				link.server.write(data);
			});
			link.server.on("data", (data) => {
				if (!silent) client.write(data);
			});
			for (const socket of [client, link.server]) {
				socket.on("error", () => {});
				socket.on("close", () => {
					if (link.dead && socket === link.server) return;
					client.destroy();
					link.server.destroy();
					this.#links.delete(link);
				});
			}
		});
	}

	static async before(port: number): Promise<BreakableProxy> {
		const proxy = new BreakableProxy(port);
		proxy.#server.listen(0, "127.0.0.1");
		await once(proxy.#server, "listening");
		return proxy;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** As a firewall forgets connections: the client notices when it says something. */
	forget(): void {
		for (const link of this.#links) {
			link.dead = true;
			link.server.destroy();
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const { client, server } of this.#links) {
			client.destroy();
			server.destroy();
		}
		this.#server.close();
		await once(this.#server, "close");
	}
}

interface Link {
	readonly client: Socket;
	readonly server: Socket;
	dead: boolean;
}
