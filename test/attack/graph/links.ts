import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A server of the fleet by its number, or everyone. */
export type Side = number | "all";

/** What a link does to the bytes of one client, in each direction. */
export type Disturbance =
	/** Ends the connections, and refuses new ones. */
	| { readonly kind: "cut" }
	/** Keeps the bytes back until the link is restored. */
	| { readonly kind: "hold"; readonly direction: "to" | "from" | "both" }
	/** Passes each piece of bytes on so much later. */
	| { readonly kind: "slow"; readonly ms: number };

interface Direction {
	readonly send: (bytes: Buffer | null) => void;
	/** In order; null is the end of the stream. */
	readonly waiting: { readonly dueAt: number; readonly bytes: Buffer | null }[];
	timer: NodeJS.Timeout | undefined;
}

interface Pair {
	/** Null if the client is no server of the fleet; undefined until somebody has to know. */
	who: number | null | undefined;
	readonly client: Socket;
	readonly upstream: Socket;
	readonly to: Direction;
	readonly from: Direction;
}

/**
 * A TCP link from all processes of the fleet to one service. Whose connection it
 * is follows from the process that owns the client's socket (proc(5), Linux), so
 * all processes use the same address and one of them can be cut off. It is looked up
 * only while one of them is disturbed: it takes milliseconds.
 */
export class Link implements AsyncDisposable {
	readonly name: string;
	readonly port: number;
	readonly #server: ReturnType<typeof createServer>;
	readonly #pairs = new Set<Pair>();
	readonly #disturbed = new Map<Side, Disturbance[]>();
	readonly #serverOf: () => ReadonlyMap<number, number>;

	private constructor(
		name: string,
		server: ReturnType<typeof createServer>,
		target: number,
		serverOf: () => ReadonlyMap<number, number>,
	) {
		this.name = name;
		this.#server = server;
		this.port = (server.address() as AddressInfo).port;
		this.#serverOf = serverOf;
		server.on("connection", (client) => this.#accept(client, target));
	}

	/** `serverOf` names the servers of the fleet by the id of their process. */
	static async to(
		name: string,
		target: number,
		serverOf: () => ReadonlyMap<number, number>,
	): Promise<Link> {
		const server = createServer();
		server.listen(0, "127.0.0.1");
		await once(server, "listening");
		return new Link(name, server, target, serverOf);
	}

	/** Until the function that it returns is called. Several may hold at once. */
	disturb(side: Side, disturbance: Disturbance): () => void {
		const list = this.#disturbed.get(side) ?? [];
		this.#disturbed.set(side, [...list, disturbance]);
		if (side !== "all") this.#identify();
		if (disturbance.kind === "cut") {
			for (const pair of this.#pairs) {
				if (side === "all" || pair.who === side) this.#drop(pair);
			}
		}
		return () => {
			const left = (this.#disturbed.get(side) ?? []).filter(
				(one) => one !== disturbance,
			);
			this.#disturbed.set(side, left);
			for (const pair of this.#pairs) this.#flush(pair);
		};
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const closed = once(this.#server, "close");
		this.#server.close();
		for (const pair of this.#pairs) this.#drop(pair);
		await closed;
	}

	#of(who: Pair["who"]): readonly Disturbance[] {
		return [
			...(this.#disturbed.get("all") ?? []),
			...(who === null || who === undefined
				? []
				: (this.#disturbed.get(who) ?? [])),
		];
	}

	/** Finds out whose connections these are, of all that nobody had to know yet. */
	#identify(): void {
		const unknown = [...this.#pairs].filter(({ who }) => who === undefined);
		const ports = unknown.map(({ client }) => client.remotePort ?? 0);
		const owners = ownersOf(ports, this.#serverOf());
		for (const [n, pair] of unknown.entries()) pair.who = owners[n] ?? null;
	}

	#accept(client: Socket, target: number): void {
		client.on("error", () => {});
		const isOneDisturbed = [...this.#disturbed].some(
			([side, list]) => side !== "all" && list.length > 0,
		);
		const who = isOneDisturbed
			? (ownersOf([client.remotePort ?? 0], this.#serverOf())[0] ?? null)
			: undefined;
		if (this.#of(who).some(({ kind }) => kind === "cut")) {
			client.destroy();
			return;
		}
		const upstream = connect(target, "127.0.0.1");
		upstream.on("error", () => {});
		for (const socket of [client, upstream]) socket.setNoDelay(true);
		const pair: Pair = {
			who,
			client,
			upstream,
			to: directionTo(upstream),
			from: directionTo(client),
		};
		this.#pairs.add(pair);
		client.on("data", (bytes) => this.#pass(pair, "to", bytes));
		client.on("end", () => this.#pass(pair, "to", null));
		upstream.on("data", (bytes) => this.#pass(pair, "from", bytes));
		upstream.on("end", () => this.#pass(pair, "from", null));
		upstream.on("close", () => this.#drop(pair));
		// What a client sent before it died is on its way all the same.
		client.on("close", () => {
			if (pair.to.waiting.length === 0) this.#drop(pair);
		});
	}

	#drop(pair: Pair): void {
		this.#pairs.delete(pair);
		clearTimeout(pair.to.timer);
		clearTimeout(pair.from.timer);
		pair.client.destroy();
		pair.upstream.destroy();
	}

	#pass(pair: Pair, name: "to" | "from", bytes: Buffer | null): void {
		const slow = this.#of(pair.who).reduce(
			(ms, one) => (one.kind === "slow" ? ms + one.ms : ms),
			0,
		);
		const direction = pair[name];
		if (
			slow === 0 &&
			direction.waiting.length === 0 &&
			!this.#holds(pair, name)
		) {
			direction.send(bytes);
			return;
		}
		direction.waiting.push({ dueAt: performance.now() + slow, bytes });
		this.#flush(pair);
	}

	#holds(pair: Pair, name: "to" | "from"): boolean {
		return this.#of(pair.who).some(
			(one) =>
				one.kind === "hold" &&
				(one.direction === "both" || one.direction === name),
		);
	}

	#flush(pair: Pair): void {
		for (const name of ["to", "from"] as const) {
			const direction = pair[name];
			clearTimeout(direction.timer);
			if (this.#holds(pair, name)) continue;
			for (;;) {
				const [next] = direction.waiting;
				if (next === undefined) break;
				const ms = next.dueAt - performance.now();
				if (ms > 0) {
					direction.timer = setTimeout(() => this.#flush(pair), ms);
					break;
				}
				direction.waiting.shift();
				direction.send(next.bytes);
			}
		}
		if (pair.client.destroyed && pair.to.waiting.length === 0) this.#drop(pair);
	}
}

function directionTo(socket: Socket): Direction {
	return {
		send: (bytes) => {
			if (socket.destroyed) return;
			if (bytes === null) socket.end();
			else socket.write(bytes);
		},
		waiting: [],
		timer: undefined,
	};
}

/** The servers whose processes have sockets connected from these ports of 127.0.0.1. */
function ownersOf(
	ports: readonly number[],
	serverOf: ReadonlyMap<number, number>,
): readonly (number | null)[] {
	const table = readText("/proc/net/tcp");
	const servers = new Map<string, number>();
	for (const [pid, server] of serverOf) {
		for (const descriptor of descriptorsOf(pid))
			servers.set(descriptor, server);
	}
	return ports.map((port) => {
		const hex = port.toString(16).toUpperCase().padStart(4, "0");
		const at = table.indexOf(`: 0100007F:${hex} `);
		if (at < 0) return null;
		const columns = table.slice(at + 2, table.indexOf("\n", at)).split(/\s+/);
		return servers.get(`socket:[${columns[8]}]`) ?? null;
	});
}

/** What the open files of a process are: `socket:[123]`. */
function descriptorsOf(pid: number): readonly string[] {
	const folder = `/proc/${pid}/fd`;
	try {
		return readdirSync(folder).flatMap((descriptor) => {
			try {
				return [readlinkSync(`${folder}/${descriptor}`)];
			} catch {
				return [];
			}
		});
	} catch {
		return [];
	}
}

function readText(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch {
		return "";
	}
}
