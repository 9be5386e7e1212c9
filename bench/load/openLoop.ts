import { connect, type Socket } from "node:net";
import { seededRandom } from "../../src/util/random.ts";
import type { Outcome } from "../overload/messages.ts";
import { type ReadResponse, ResponseReader } from "./responseReader.ts";

const CHECK_MS = 20;
const RECONNECT_MS = 10;

/** One request of a load. */
export interface Sent {
	/** A whole HTTP request. */
	readonly request: Buffer;
}

/** Where the requests of a load come from, and where what became of them goes. */
export interface Source<Request extends Sent> {
	/** Null if nobody has one to send. */
	next(): Request | null;
	/** One call for each request. */
	ended(request: Request, ended: Ended): void;
}

/** What became of a request. */
export interface Ended {
	/** When it was due, on the clock of the process. Milliseconds. */
	readonly at: number;
	/** From then to the end. Milliseconds. */
	readonly ms: number;
	readonly outcome: Outcome;
	/** Null without a response. */
	readonly response: ReadResponse | null;
	/** What was wrong; null if nothing was. */
	readonly why: string | null;
}

export interface LoopSettings {
	readonly port: number;
	/** The machine's address: 127.0.0.2 counts as another one than 127.0.0.1. */
	readonly address: string;
	readonly connections: number;
	/** A client gives up after this time. Milliseconds. */
	readonly patienceMs: number;
	/** Whether the source gets the bodies of responses. */
	readonly keepsBodies: boolean;
}

/** Requests a second; null: each connection sends when it was answered. */
export interface Phase {
	readonly seconds: number;
	readonly rate: number | null;
}

interface Asked<Request> {
	readonly at: number;
	readonly of: Request;
}

class Connection<Request extends Sent> {
	readonly #open: (connection: Connection<Request>) => Socket;
	#socket: Socket;
	#isReady = false;
	asked: Asked<Request> | null = null;

	constructor(open: (connection: Connection<Request>) => Socket) {
		this.#open = open;
		this.#socket = open(this);
	}

	ready(): void {
		this.#isReady = true;
		if (this.asked !== null) this.#socket.write(this.asked.of.request);
	}

	send(asked: Asked<Request>): void {
		this.asked = asked;
		if (this.#isReady) this.#socket.write(asked.of.request);
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

/**
 * Sends requests at their times over its connections. A client that waits for a
 * free connection waits for its response meanwhile: what is slow looks slow to
 * all that come after it.
 */
export class OpenLoop<Request extends Sent> {
	readonly #source: Source<Request>;
	readonly #settings: LoopSettings;
	readonly #idle: Connection<Request>[] = [];
	readonly #busy = new Set<Connection<Request>>();
	/** Requests that wait for a connection, from `#first` on. */
	#queue: Asked<Request>[] = [];
	#first = 0;
	readonly #all: readonly Connection<Request>[];
	readonly #late: number[] = [];
	#starved = 0;
	#isClosedLoop = false;

	constructor(source: Source<Request>, settings: LoopSettings) {
		this.#source = source;
		this.#settings = settings;
		this.#all = Array.from(
			{ length: settings.connections },
			() => new Connection((connection) => this.#open(connection)),
		);
	}

	/** For each request of an open loop, how much later than due it was sent, or given to those that wait for a connection. Milliseconds. */
	get late(): readonly number[] {
		return this.#late;
	}

	/** How often nobody had a request to send when one was due. */
	get starved(): number {
		return this.#starved;
	}

	/** Returns when all have ended. The times are drawn by the seed. */
	async run(phases: readonly Phase[], seed: number): Promise<void> {
		const random = seededRandom(seed);
		const checking = setInterval(() => this.#giveUp(), CHECK_MS);
		let from = performance.now();
		for (const { seconds, rate } of phases) {
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
		const deadline = performance.now() + this.#settings.patienceMs;
		while (
			performance.now() < deadline &&
			(this.#busy.size > 0 || this.#queue.length > this.#first)
		) {
			await sleep(CHECK_MS);
		}
		clearInterval(checking);
		for (const connection of this.#all) connection.end();
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

	/** Whether somebody had one. */
	#ask(at: number): boolean {
		const of = this.#source.next();
		if (of === null) {
			this.#starved++;
			return false;
		}
		const connection = this.#idle.pop();
		if (connection === undefined) this.#queue.push({ at, of });
		else this.#send(connection, { at, of });
		return true;
	}

	#send(connection: Connection<Request>, asked: Asked<Request>): void {
		this.#busy.add(connection);
		connection.send(asked);
	}

	#free(connection: Connection<Request>): void {
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

	#open(connection: Connection<Request>): Socket {
		const { port, address, keepsBodies } = this.#settings;
		const socket = connect({
			port,
			host: "127.0.0.1",
			localAddress: address,
			noDelay: true,
		});
		const reader = new ResponseReader((response) => {
			const { asked } = connection;
			if (asked === null || !connection.isOf(socket)) return;
			this.#end(asked, outcomeOf(response), response, response.errors);
			if (/\r\nconnection: *close/i.test(response.head)) {
				this.#busy.delete(connection);
				connection.asked = null;
				connection.reopen();
			} else {
				this.#free(connection);
			}
		}, keepsBodies);
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

	#drop(connection: Connection<Request>, outcome: Outcome, why: string): void {
		const { asked } = connection;
		if (asked !== null) this.#end(asked, outcome, null, why);
		connection.asked = null;
		this.#busy.delete(connection);
		const idle = this.#idle.indexOf(connection);
		if (idle >= 0) this.#idle.splice(idle, 1);
		connection.reopen();
	}

	/** Clients that have waited long enough. */
	#giveUp(): void {
		const oldest = performance.now() - this.#settings.patienceMs;
		for (const connection of this.#busy) {
			if ((connection.asked as Asked<Request>).at < oldest) {
				this.#drop(connection, "late", "no response in time");
			}
		}
		this.#queue = this.#queue.slice(this.#first);
		const fresh = this.#queue.findIndex(({ at }) => at >= oldest);
		this.#first = fresh < 0 ? this.#queue.length : fresh;
		for (const asked of this.#queue.slice(0, this.#first)) {
			this.#end(asked, "late", null, "never sent");
		}
	}

	#end(
		{ at, of }: Asked<Request>,
		outcome: Outcome,
		response: ReadResponse | null,
		why: string | null,
	): void {
		const ms = performance.now() - at;
		this.#source.ended(of, { at, ms, outcome, response, why });
	}
}

function outcomeOf({ status, head, errors }: ReadResponse): Outcome {
	if (status === 503 || status === 429) {
		return /\r\nretry-after:/i.test(head) ? "refused" : "refusedWithout";
	}
	if (status !== 200) return "failed";
	return errors === null ? "answered" : "errors";
}

export function sleep(ms: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
