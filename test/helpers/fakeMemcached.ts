import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import {
	setTimeout as sleep,
	setImmediate as turn,
} from "node:timers/promises";

/**
 * What it does with the answers to a batch: send them in one piece, byte by
 * byte, byte by byte with a pause after each, keep them until `release`, send
 * half and keep the rest, send half and die, die at once, or answer with
 * something else.
 */
export type Manner =
	| "whole"
	| "trickle"
	| "drip"
	| "keep"
	| "half"
	| "halfThenDie"
	| "die"
	| { readonly instead: Buffer };

/** As much of a memcached as a batch of reads needs: every key has the value `KEY of N`, N being the connection's number. */
export class FakeMemcached implements AsyncDisposable {
	manner: Manner = "whole";
	/** It answers reads, as a proxy that reaches no server to delete from. */
	refusesDeletes = false;
	/** How many there were. */
	connections = 0;
	/** The commands it received, in order. */
	readonly commands: string[] = [];
	readonly #server = createServer();
	readonly #sockets = new Set<Socket>();
	readonly #kept: (() => void)[] = [];

	static async start(): Promise<FakeMemcached> {
		const fake = new FakeMemcached();
		fake.#server.on("connection", (socket) => fake.#serve(socket));
		fake.#server.listen(0, "127.0.0.1");
		await once(fake.#server, "listening");
		return fake;
	}

	get address(): string {
		return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	/** How many connections there are. */
	get open(): number {
		return this.#sockets.size;
	}

	/** How many responses are kept until `release`. */
	get kept(): number {
		return this.#kept.length;
	}

	/** Sends what was kept to those who still listen. */
	release(): void {
		for (const send of this.#kept.splice(0)) send();
	}

	/** Closes all connections. */
	hangUp(): void {
		for (const socket of this.#sockets) socket.destroy();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		this.hangUp();
		await closed;
	}

	#serve(socket: Socket): void {
		const number = ++this.connections;
		this.#sockets.add(socket);
		socket.setNoDelay(true);
		socket.on("error", () => {});
		socket.on("close", () => this.#sockets.delete(socket));
		let received = "";
		let answers: string[] = [];
		let isTrial = false;
		let isWritten = false;
		socket.on("data", (bytes) => {
			const lines = (received + bytes.toString("latin1")).split("\r\n");
			received = lines.pop() ?? "";
			for (const line of lines) {
				const [command = "", name = ""] = line.split(" ");
				// Whether it takes writes is asked beside what a test does.
				if (name.includes(".trial.")) {
					isTrial = true;
					answers.push(this.#trial(command, isWritten));
					isWritten = command === "ms" || (isWritten && command === "mg");
					continue;
				}
				if (isTrial) {
					if (command === "mn") {
						socket.write(`${answers.join("")}MN\r\n`);
						answers = [];
						isTrial = false;
					}
					continue;
				}
				this.commands.push(command);
				if (command === "mg") {
					// Without what the cache puts before it.
					const value = `${name.replace(/^.*\./, "")} of ${number}`;
					answers.push(`VA ${value.length} f${VALUE} c1\r\n${value}\r\n`);
					continue;
				}
				void this.#send(socket, Buffer.from(`${answers.join("")}MN\r\n`));
				answers = [];
			}
		});
	}

	#trial(command: string, isWritten: boolean): string {
		if (command === "md" && this.refusesDeletes) {
			return "SERVER_ERROR proxy write to backend failed\r\n";
		}
		return command === "mg" && !isWritten ? "EN\r\n" : "HD\r\n";
	}

	async #send(socket: Socket, bytes: Buffer): Promise<void> {
		const { manner } = this;
		const half = bytes.subarray(0, bytes.length >> 1);
		if (manner === "whole") socket.write(bytes);
		else if (manner === "keep") this.#kept.push(() => socket.write(bytes));
		else if (manner === "die") socket.destroy();
		else if (manner === "half") {
			socket.write(half);
			this.#kept.push(() => socket.write(bytes.subarray(half.length)));
		} else if (manner === "halfThenDie") {
			socket.write(half, () => socket.destroy());
		} else if (manner === "trickle" || manner === "drip") {
			for (const byte of bytes) {
				if (socket.destroyed) return;
				socket.write(Buffer.of(byte));
				if (manner === "drip") await sleep(20);
				else await turn();
			}
		} else socket.write(manner.instead);
	}
}

/** The flags of a value, as src/cache/memcached/memcachedCache.ts has them. */
const VALUE = 1;
