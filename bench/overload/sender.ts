/**
 * Sends requests at their times, as a process of its own. A client that waits
 * for a free connection waits for its response meanwhile: what is slow looks
 * slow to all that come after it.
 */
import { connect, type Socket } from "node:net";
import { seededRandom } from "../../src/demo/random.ts";
import { type ReadResponse, ResponseReader } from "../load/responseReader.ts";
import {
	type Clients,
	type OpenLoad,
	type OpenResult,
	OUTCOMES,
	type Outcome,
} from "./messages.ts";
import { quantile } from "./report.ts";

const CHECK_MS = 20;
const RECONNECT_MS = 10;
/** Time for the last responses. */
const CONNECT_MS = 500;

interface Asked {
	readonly at: number;
	/** Its index among the requests. */
	readonly index: number;
	readonly request: Buffer;
}

class Connection {
	readonly #open: (connection: Connection) => Socket;
	#socket: Socket;
	#isReady = false;
	asked: Asked | null = null;

	constructor(open: (connection: Connection) => Socket) {
		this.#open = open;
		this.#socket = open(this);
	}

	ready(): void {
		this.#isReady = true;
		if (this.asked !== null) this.#socket.write(this.asked.request);
	}

	send(asked: Asked): void {
		this.asked = asked;
		if (this.#isReady) this.#socket.write(asked.request);
	}

	reopen(): void {
		this.#isReady = false;
		this.#socket.destroy();
		setTimeout(() => {
			this.#socket = this.#open(this);
		}, RECONNECT_MS);
	}

	isOf(socket: Socket): boolean {
		return this.#socket === socket;
	}

	end(): void {
		this.#socket.removeAllListeners("close").destroy();
	}
}

class Sending {
	readonly #clients: Clients;
	readonly #port: number;
	readonly #patienceMs: number;
	readonly #requests: readonly Buffer[];
	readonly #idle: Connection[] = [];
	readonly #busy = new Set<Connection>();
	/** Of those that wait for a connection, from `#first` on. */
	#queue: Asked[] = [];
	#first = 0;
	readonly #all: readonly Connection[];
	readonly #at: number[] = [];
	readonly #ms: number[] = [];
	readonly #outcome: number[] = [];
	readonly #indexes: number[] = [];
	readonly #late: number[] = [];
	#firstError: string | null = null;
	#next = 0;
	#began = 0;
	#isClosedLoop = false;

	constructor(clients: Clients, { port, patienceMs }: OpenLoad) {
		this.#clients = clients;
		this.#port = port;
		this.#patienceMs = patienceMs;
		this.#requests = clients.requests.map((text) => Buffer.from(text));
		this.#all = Array.from(
			{ length: clients.connections },
			() => new Connection((connection) => this.#open(connection)),
		);
	}

	async run(): Promise<OpenResult> {
		const random = seededRandom(this.#clients.seed);
		const checking = setInterval(() => this.#giveUp(), CHECK_MS);
		this.#began = performance.now();
		let from = this.#began;
		for (const { seconds, rate } of this.#clients.phases) {
			const end = from + seconds * 1_000;
			this.#isClosedLoop = rate === null;
			if (rate === null) {
				for (const connection of this.#idle.splice(0)) this.#free(connection);
				await sleep(end - performance.now());
				this.#isClosedLoop = false;
			} else {
				await this.#sendAt(rate, from, end, random.fraction);
			}
			from = end;
		}
		const deadline = performance.now() + this.#patienceMs;
		while (
			performance.now() < deadline &&
			(this.#busy.size > 0 || this.#queue.length > this.#first)
		) {
			await sleep(CHECK_MS);
		}
		clearInterval(checking);
		for (const connection of this.#all) connection.end();
		return {
			name: this.#clients.name,
			at: Float64Array.from(this.#at),
			ms: Float64Array.from(this.#ms),
			outcome: Uint8Array.from(this.#outcome),
			request: Uint32Array.from(this.#indexes),
			lateMs: quantile(this.#late, 0.99),
			firstError: this.#firstError,
		};
	}

	/** As a Poisson process. */
	async #sendAt(
		rate: number,
		from: number,
		end: number,
		fraction: () => number,
	): Promise<void> {
		if (rate === 0) return sleep(end - performance.now());
		const step = () => (-Math.log(1 - fraction()) / rate) * 1_000;
		let due = from + step();
		while (due < end) {
			await sleep(due - performance.now());
			for (const now = performance.now(); due <= now && due < end; ) {
				this.#late.push(now - due);
				this.#ask(due);
				due += step();
			}
		}
	}

	#ask(at: number): void {
		const index = this.#next++ % this.#requests.length;
		const request = this.#requests[index] as Buffer;
		const asked = { at, index, request };
		const connection = this.#idle.pop();
		if (connection === undefined) this.#queue.push(asked);
		else this.#send(connection, asked);
	}

	#send(connection: Connection, asked: Asked): void {
		this.#busy.add(connection);
		connection.send(asked);
	}

	#free(connection: Connection): void {
		this.#busy.delete(connection);
		connection.asked = null;
		const next = this.#queue[this.#first];
		if (next !== undefined) {
			this.#first++;
			this.#send(connection, next);
		} else {
			this.#idle.push(connection);
			if (this.#isClosedLoop) this.#ask(performance.now());
		}
	}

	#open(connection: Connection): Socket {
		const socket = connect({
			port: this.#port,
			host: "127.0.0.1",
			localAddress: this.#clients.address,
			noDelay: true,
		});
		const reader = new ResponseReader((response) => {
			const { asked } = connection;
			if (asked === null || !connection.isOf(socket)) return;
			this.#record(asked, outcomeOf(response), response.errors);
			if (/\r\nconnection: *close/i.test(response.head)) {
				this.#busy.delete(connection);
				connection.asked = null;
				connection.reopen();
			} else {
				this.#free(connection);
			}
		});
		socket.on("connect", () => {
			connection.ready();
			if (connection.asked === null) this.#free(connection);
		});
		socket.on("data", (chunk) => reader.add(chunk as Buffer));
		socket.on("error", () => {});
		socket.on("close", () => {
			if (!connection.isOf(socket)) return;
			this.#drop(connection, "failed", "the server closed the connection");
		});
		return socket;
	}

	#drop(connection: Connection, outcome: Outcome, why: string): void {
		const { asked } = connection;
		if (asked !== null) this.#record(asked, outcome, why);
		connection.asked = null;
		this.#busy.delete(connection);
		const idle = this.#idle.indexOf(connection);
		if (idle >= 0) this.#idle.splice(idle, 1);
		connection.reopen();
	}

	/** Clients that have waited long enough. */
	#giveUp(): void {
		const oldest = performance.now() - this.#patienceMs;
		for (const connection of this.#busy) {
			if ((connection.asked as Asked).at < oldest) {
				this.#drop(connection, "late", "no response in time");
			}
		}
		this.#queue = this.#queue.slice(this.#first);
		const fresh = this.#queue.findIndex(({ at }) => at >= oldest);
		this.#first = fresh < 0 ? this.#queue.length : fresh;
		for (const asked of this.#queue.slice(0, this.#first)) {
			this.#record(asked, "late", "never sent");
		}
	}

	#record({ at, index }: Asked, outcome: Outcome, why: string | null): void {
		this.#at.push((at - this.#began) / 1_000);
		this.#ms.push(performance.now() - at);
		this.#outcome.push(OUTCOMES.indexOf(outcome));
		this.#indexes.push(index);
		if (outcome !== "answered" && !outcome.startsWith("refused")) {
			this.#firstError ??= why;
		}
	}
}

function outcomeOf({ status, head, errors }: ReadResponse): Outcome {
	if (status === 503 || status === 429) {
		return /\r\nretry-after:/i.test(head) ? "refused" : "refusedWithout";
	}
	if (status !== 200) return "failed";
	return errors === null ? "answered" : "errors";
}

function sleep(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}

process.on("message", async (load: OpenLoad) => {
	const all = load.clients.map((clients) => new Sending(clients, load));
	await sleep(CONNECT_MS);
	const results = await Promise.all(all.map((sending) => sending.run()));
	process.send?.(results);
});
// It does not outlive the benchmark.
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
