import { randomInt } from "node:crypto";
import { createConnection, type Socket } from "node:net";
import { reasonOf } from "../../util/reasonOf.ts";
import { JuteReader } from "./jute.ts";
import {
	type Body,
	CODE,
	connectRequest,
	digestAuth,
	OP,
	readConnectResponse,
	request,
	XID,
} from "./protocol.ts";

export interface SessionOptions {
	/** `host:port` of each server of the ensemble. */
	readonly servers: readonly string[];
	/** `user:password`; null: none. */
	readonly auth: string | null;
	/** How long the servers keep the session of a client that is silent. Milliseconds; the servers may grant another. */
	readonly timeoutMs: number;
	/** Connected, at first or again. `isNew`: what the former session announced is gone, or will be. */
	onConnected(isNew: boolean): void;
	/** A change of this path was watched. */
	onChange(path: string): void;
}

/** An answer with a code other than 0, or none: `connectionLoss`. */
export class ZookeeperError extends Error {
	readonly code: number;
	/** Whether the request may have been carried out. */
	readonly wasSent: boolean;

	constructor(code: number, reason: string, wasSent: boolean) {
		super(reason);
		this.name = "ZookeeperError";
		this.code = code;
		this.wasSent = wasSent;
	}
}

interface Pending {
	readonly xid: number;
	resolve(reader: JuteReader): void;
	reject(error: ZookeeperError): void;
}

/** Larger frames are no answers: servers refuse texts of more than 1 MB. */
const MAX_FRAME = 4 * 1024 * 1024;
const CONNECT_MS = 2_000;
const RETRY_MS = { first: 50, most: 1_000 } as const;
const NO_PASSWORD = Buffer.alloc(16);

/**
 * A session with an ensemble of ZooKeeper. It connects in the background, to
 * another server after each failure, and resumes its session as long as the
 * servers keep it. Whatever a server sends or does not send ends at most the
 * connection: a frame that is no answer, an answer to nothing, or silence for half
 * of the session's time. Requests fail if there is no connection; nothing is queued.
 */
export class ZookeeperSession implements AsyncDisposable {
	readonly #options: SessionOptions;
	#socket: Socket | null = null;
	#isConnected = false;
	#isClosed = false;
	#received: Buffer<ArrayBufferLike> = Buffer.alloc(0);
	/** In the order in which they were sent, which is the order of the answers. */
	readonly #pending: Pending[] = [];
	#xid = 0;
	#session: {
		readonly lastZxid: bigint;
		readonly id: bigint;
		readonly password: Buffer;
	} = { lastZxid: 0n, id: 0n, password: NO_PASSWORD };
	#timeoutMs: number;
	#receivedAt = 0;
	#ping: NodeJS.Timeout | undefined;
	#retry: NodeJS.Timeout | undefined;
	#failures = 0;
	#next: number;
	#lastError = "not connected yet";
	readonly #waiting = new Set<() => void>();

	constructor(options: SessionOptions) {
		this.#options = options;
		this.#timeoutMs = options.timeoutMs;
		// Clients spread over the servers.
		this.#next = randomInt(options.servers.length);
		this.#connect();
	}

	get isConnected(): boolean {
		return this.#isConnected;
	}

	/** Why the last connection ended or could not be made. */
	get lastError(): string {
		return this.#lastError;
	}

	/** Resolves when it is connected, and also after `ms` or when it is closed. */
	async connected(ms: number): Promise<void> {
		if (this.#isConnected || this.#isClosed) return;
		await new Promise<void>((resolve) => {
			const done = () => {
				clearTimeout(timer);
				this.#waiting.delete(done);
				resolve();
			};
			const timer = setTimeout(done, ms);
			this.#waiting.add(done);
		});
	}

	/** The answer's body. Throws ZookeeperError. */
	send(op: number, body?: Body): Promise<JuteReader> {
		return new Promise((resolve, reject) => {
			const socket = this.#socket;
			if (!this.#isConnected || socket === null) {
				reject(new ZookeeperError(CODE.connectionLoss, this.#lastError, false));
				return;
			}
			this.#xid = (this.#xid + 1) & 0x7fffffff || 1;
			this.#pending.push({ xid: this.#xid, resolve, reject });
			socket.write(request(this.#xid, op, body));
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#isClosed) return;
		this.#isClosed = true;
		clearTimeout(this.#retry);
		const socket = this.#socket;
		if (this.#isConnected && socket !== null) {
			// The servers then end the session at once, with all that it announced.
			const answered = this.send(OP.closeSession).catch(() => {});
			const timer = setTimeout(() => this.#cut("closed"), CONNECT_MS);
			await answered;
			clearTimeout(timer);
		}
		this.#cut("closed");
		for (const done of [...this.#waiting]) done();
	}

	#connect(): void {
		if (this.#isClosed) return;
		const { servers } = this.#options;
		const address = servers[this.#next++ % servers.length] as string;
		const colon = address.lastIndexOf(":");
		const host = address.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
		const port = Number(address.slice(colon + 1));
		const socket = createConnection({ host, port, noDelay: true });
		this.#socket = socket;
		this.#received = Buffer.alloc(0);
		const isCurrent = () => this.#socket === socket;
		const fail = (reason: string) => {
			if (isCurrent()) this.#cut(`${address}: ${reason}`);
		};
		const opening = setTimeout(
			() => fail(`no answer within ${CONNECT_MS} ms`),
			CONNECT_MS,
		);
		socket.on("close", () => {
			clearTimeout(opening);
			fail("connection closed");
		});
		socket.on("error", (error) => fail(error.message));
		socket.on("connect", () => {
			const { timeoutMs } = this.#options;
			socket.write(connectRequest({ ...this.#session, timeoutMs }));
		});
		socket.on("data", (bytes) => {
			if (!isCurrent()) return;
			this.#receivedAt = performance.now();
			try {
				this.#receive(bytes, () => clearTimeout(opening));
			} catch (error) {
				fail(reasonOf(error));
			}
		});
	}

	#receive(bytes: Buffer, onOpened: () => void): void {
		this.#received =
			this.#received.length === 0
				? bytes
				: Buffer.concat([this.#received, bytes]);
		while (this.#received.length >= 4) {
			const length = this.#received.readInt32BE(0);
			if (length < 0 || length > MAX_FRAME) {
				throw new RangeError(`a frame of ${length} bytes is no answer`);
			}
			if (this.#received.length < 4 + length) return;
			const frame = this.#received.subarray(4, 4 + length);
			this.#received = this.#received.subarray(4 + length);
			if (this.#isConnected) this.#answer(frame);
			else {
				onOpened();
				this.#opened(frame);
			}
			if (this.#socket === null) return;
		}
	}

	#opened(frame: Buffer): void {
		const { timeoutMs, id, password } = readConnectResponse(frame);
		if (timeoutMs <= 0) {
			// Expired. A new session begins with the next connection.
			this.#session = { ...this.#session, id: 0n, password: NO_PASSWORD };
			this.#cut("the session has expired");
			return;
		}
		const isNew = id !== this.#session.id;
		this.#session = { ...this.#session, id, password };
		this.#timeoutMs = timeoutMs;
		this.#isConnected = true;
		this.#failures = 0;
		this.#receivedAt = performance.now();
		const { auth, onConnected } = this.#options;
		if (auth !== null) {
			this.#socket?.write(request(XID.auth, OP.auth, digestAuth(auth)));
		}
		this.#ping = setInterval(() => this.#beat(), timeoutMs / 4).unref();
		for (const done of [...this.#waiting]) done();
		onConnected(isNew);
	}

	#beat(): void {
		// A loop that was paused has not read what may be there.
		const silentMs = performance.now() - this.#receivedAt;
		if (silentMs > this.#timeoutMs / 2) {
			setImmediate(() => {
				const isSilent =
					performance.now() - this.#receivedAt > this.#timeoutMs / 2;
				if (isSilent) this.#cut(`silent for ${Math.round(silentMs)} ms`);
			});
			return;
		}
		this.#socket?.write(request(XID.ping, OP.ping));
	}

	#answer(frame: Buffer): void {
		const reader = new JuteReader(frame);
		const xid = reader.int();
		const zxid = reader.long();
		const code = reader.int();
		if (xid === XID.ping) return;
		if (xid === XID.auth) {
			if (code !== CODE.ok) throw new Error("the user or password is wrong");
			return;
		}
		if (xid === XID.watchEvent) {
			reader.int();
			reader.int();
			this.#options.onChange(reader.text());
			return;
		}
		const pending = this.#pending.shift();
		if (pending === undefined || pending.xid !== xid) {
			pending?.reject(
				new ZookeeperError(CODE.connectionLoss, "answer out of order", true),
			);
			throw new Error(`an answer to request ${xid}, which was not asked`);
		}
		if (zxid > this.#session.lastZxid) {
			this.#session = { ...this.#session, lastZxid: zxid };
		}
		if (code === CODE.ok) pending.resolve(reader);
		else pending.reject(new ZookeeperError(code, `code ${code}`, true));
	}

	/** Ends the connection; the next one is tried after a pause that grows. */
	#cut(reason: string): void {
		clearInterval(this.#ping);
		const socket = this.#socket;
		this.#socket = null;
		this.#isConnected = false;
		this.#lastError = reason;
		socket?.destroy();
		for (const { reject } of this.#pending.splice(0)) {
			reject(new ZookeeperError(CODE.connectionLoss, reason, true));
		}
		if (this.#isClosed || socket === null) return;
		const most = Math.min(
			RETRY_MS.most,
			RETRY_MS.first * 2 ** Math.min(this.#failures++, 10),
		);
		clearTimeout(this.#retry);
		this.#retry = setTimeout(
			() => this.#connect(),
			most * (0.5 + Math.random() / 2),
		);
	}
}
