import { Server } from "memjs";
import { writeOncePerTurn } from "../util/writeOncePerTurn.ts";
import type { ClientConnection } from "./cacheConnection.ts";

/** A command of memcached's binary protocol. */
export interface Command {
	readonly opcode: number;
	/** ASCII. */
	readonly key: string;
	readonly extras?: Buffer;
	readonly value?: string;
	/** The command applies only if the item still has this CAS number. */
	readonly cas?: Cas;
}

/** The number of one state of an item: its eight bytes as latin1, which a string holds with one small allocation. */
export type Cas = string;

export interface MemcachedResponse {
	readonly status: number;
	/** Of the item; 0 if the response has none. */
	readonly flags: number;
	readonly value: string;
	readonly cas: Cas;
}

export const OPCODE = {
	/** The quiet ones respond only in the unusual case: GETQ to a hit, the others to a failure. */
	GETQ: 0x09,
	ADD: 0x02,
	SETQ: 0x11,
	DELETEQ: 0x14,
	NOOP: 0x0a,
} as const;

export const STATUS = { OK: 0, NOT_FOUND: 1, EXISTS: 2 } as const;

/**
 * One connection to one memcached: memjs opens the socket, and the protocol is
 * ours.
 *
 * Many commands go out in one write, followed by a NOOP. memcached responds in
 * order, so the response to the NOOP says that no more follow, and a quiet get
 * without a response is a miss. Each command has its own opaque number.
 *
 * The calls of memjs itself wait forever after half a response or a closed
 * socket, because its `Server` reuses itself for a second socket. This one is
 * never used after its socket failed. Of memjs's timers it uses only the one for
 * connecting, which is longer than every deadline of ours. memjs also makes seven
 * buffers of each request and response; here a batch is written into one buffer,
 * and a response is read where it was received.
 */
export class MemcachedConnection extends Server implements ClientConnection {
	readonly #lost: (error: unknown) => void;
	readonly #batches: Batch[] = [];
	/** The start of a response whose rest was not received yet. */
	#received: Buffer | undefined;
	#next = 1;
	#failure: Error | undefined;

	constructor(
		{ host, port }: { readonly host: string; readonly port: number },
		lost: (error: unknown) => void,
	) {
		super(host, port, undefined, undefined, {
			conntimeout: CONNECT_LIMIT_S,
			keepAlive: true,
			keepAliveDelay: KEEP_ALIVE_S,
		});
		// Otherwise memjs takes them from the environment.
		this.username = undefined;
		this.password = undefined;
		this.#lost = lost;
		this.sock(false, (socket) => {
			socket.setNoDelay(true);
			writeOncePerTurn(socket);
			socket.once("close", () =>
				this.error(new Error("memcached closed the connection.")),
			);
		});
	}

	/** The responses in the order of the commands; undefined for a quiet command without one. */
	exchange(
		commands: readonly Command[],
	): Promise<readonly (MemcachedResponse | undefined)[]> {
		if (this.#failure) return Promise.reject(this.#failure);
		if (this.#next + commands.length > LAST_OPAQUE) this.#next = 1;
		const first = this.#next;
		this.#next += commands.length + 1;
		const bytes = encode(commands, first);
		const { promise, resolve, reject } =
			Promise.withResolvers<readonly (MemcachedResponse | undefined)[]>();
		this.#batches.push({
			first,
			responses: new Array(commands.length).fill(undefined),
			resolve,
			reject,
		});
		this.sock(false, (socket) => socket.write(bytes));
		return promise;
	}

	/** memjs calls it with what the socket received. */
	override responseHandler(chunk: Buffer): void {
		const bytes =
			this.#received === undefined
				? chunk
				: Buffer.concat([this.#received, chunk]);
		this.#received = undefined;
		let at = 0;
		while (this.#failure === undefined && at < bytes.length) {
			const left = bytes.length - at;
			const length =
				left < HEADER ? HEADER : HEADER + bytes.readUInt32BE(at + BODY_AT);
			if (left < length) {
				this.#received = at === 0 ? bytes : bytes.subarray(at);
				return;
			}
			this.#respond(bytes, at, at + length);
			at += length;
		}
	}

	#respond(bytes: Buffer, start: number, end: number): void {
		const batch = this.#batches[0];
		const at =
			batch === undefined
				? -1
				: bytes.readUInt32BE(start + OPAQUE_AT) - batch.first;
		const extras = bytes[start + EXTRAS_AT] as number;
		const valueAt =
			start + HEADER + extras + bytes.readUInt16BE(start + KEY_AT);
		if (
			batch === undefined ||
			bytes[start] !== RESPONSE_MAGIC ||
			at < 0 ||
			at > batch.responses.length ||
			valueAt > end
		) {
			this.error(
				new Error("memcached sent a response that matches no command."),
			);
		} else if (at < batch.responses.length) {
			batch.responses[at] = {
				status: bytes.readUInt16BE(start + STATUS_AT),
				flags: extras < 4 ? 0 : bytes.readUInt32BE(start + HEADER),
				value: bytes.toString("utf8", valueAt, end),
				cas: bytes.toString("latin1", start + CAS_AT, start + HEADER),
			};
		} else {
			this.#batches.shift();
			batch.resolve(batch.responses);
		}
	}

	override error(reason: unknown): void {
		if (this.#failure) return;
		this.#failure = reason instanceof Error ? reason : new Error(`${reason}`);
		super.error(this.#failure);
		for (const batch of this.#batches.splice(0)) batch.reject(this.#failure);
		this.#lost(this.#failure);
	}

	override close(): void {
		this.error(new Error("The connection was closed."));
	}
}

interface Batch {
	readonly first: number;
	readonly responses: (MemcachedResponse | undefined)[];
	resolve(responses: readonly (MemcachedResponse | undefined)[]): void;
	reject(error: Error): void;
}

const REQUEST_MAGIC = 0x80;
const RESPONSE_MAGIC = 0x81;
const LAST_OPAQUE = 0xffff_ffff;
const CONNECT_LIMIT_S = 60;
const KEEP_ALIVE_S = 30;

/** Bytes of the header of a request or response, and where its fields are. */
const HEADER = 24;
const KEY_AT = 2;
const EXTRAS_AT = 4;
const STATUS_AT = 6;
const BODY_AT = 8;
const OPAQUE_AT = 12;
const CAS_AT = 16;

/** All commands, and the NOOP after them. */
function encode(commands: readonly Command[], first: number): Buffer {
	const lengths = commands.map(({ value }) =>
		value === undefined ? 0 : Buffer.byteLength(value),
	);
	let size = HEADER;
	for (const [at, { key, extras }] of commands.entries()) {
		size +=
			HEADER + key.length + (extras?.length ?? 0) + (lengths[at] as number);
	}
	const bytes = Buffer.allocUnsafe(size);
	let at = 0;
	const writeHeader = (
		opcode: number,
		keyLength: number,
		extrasLength: number,
		body: number,
		opaque: number,
		cas: Cas | undefined,
	) => {
		bytes.fill(0, at, at + HEADER);
		bytes[at] = REQUEST_MAGIC;
		bytes[at + 1] = opcode;
		bytes.writeUInt16BE(keyLength, at + KEY_AT);
		bytes[at + EXTRAS_AT] = extrasLength;
		bytes.writeUInt32BE(body, at + BODY_AT);
		bytes.writeUInt32BE(opaque, at + OPAQUE_AT);
		if (cas !== undefined) bytes.write(cas, at + CAS_AT, "latin1");
		at += HEADER;
	};
	for (const [index, command] of commands.entries()) {
		const { opcode, key, extras, value, cas } = command;
		const length = lengths[index] as number;
		const extrasLength = extras?.length ?? 0;
		writeHeader(
			opcode,
			key.length,
			extrasLength,
			extrasLength + key.length + length,
			first + index,
			cas,
		);
		if (extras !== undefined) at += extras.copy(bytes, at);
		at += bytes.write(key, at, "latin1");
		if (value !== undefined) at += bytes.write(value, at);
	}
	writeHeader(OPCODE.NOOP, 0, 0, 0, first + commands.length, undefined);
	return bytes;
}
