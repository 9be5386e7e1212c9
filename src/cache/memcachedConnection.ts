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

/** It holds what was received with it until `value` and `cas` are read or it is dropped. */
export class MemcachedResponse {
	readonly status: number;
	/** Of the item; 0 if the response has none. */
	readonly flags: number;
	readonly #bytes: Buffer;
	readonly #start: number;
	readonly #valueAt: number;
	readonly #end: number;

	constructor(bytes: Buffer, start: number, valueAt: number, end: number) {
		this.status =
			((bytes[start + STATUS_AT] as number) << 8) |
			(bytes[start + STATUS_AT + 1] as number);
		this.flags =
			bytes[start + EXTRAS_AT] === 0 ? 0 : bytes.readUInt32BE(start + HEADER);
		this.#bytes = bytes;
		this.#start = start;
		this.#valueAt = valueAt;
		this.#end = end;
	}

	get value(): string {
		return this.#bytes.toString("utf8", this.#valueAt, this.#end);
	}

	get cas(): Cas {
		const at = this.#start + CAS_AT;
		return this.#bytes.toString("latin1", at, at + CAS_BYTES);
	}
}

export const OPCODE = {
	/** The quiet ones respond only in the unusual case: GETQ to a hit, the others to a failure. */
	GETQ: 0x09,
	ADD: 0x02,
	SETQ: 0x11,
	DELETEQ: 0x14,
	NOOP: 0x0a,
	STAT: 0x10,
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
 * and a response is read where it was received, when it is asked for.
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
		return this.#exchange(commands, undefined);
	}

	/** What memcached says of itself, by name, as in `stats` of its text protocol. */
	async stats(): Promise<ReadonlyMap<string, string>> {
		const stats = new Map<string, string>();
		await this.#exchange([{ opcode: OPCODE.STAT, key: "" }], stats);
		return stats;
	}

	#exchange(
		commands: readonly Command[],
		stats: Map<string, string> | undefined,
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
			stats,
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
			(extras !== 0 && extras < FLAGS_BYTES) ||
			valueAt > end
		) {
			this.error(
				new Error("memcached sent a response that matches no command."),
			);
		} else if (at < batch.responses.length) {
			batch.responses[at] = new MemcachedResponse(bytes, start, valueAt, end);
			// STAT is answered by many responses, each of which has the name as its key.
			batch.stats?.set(
				bytes.toString("latin1", start + HEADER + extras, valueAt),
				bytes.toString("latin1", valueAt, end),
			);
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
	/** Of a STAT. */
	readonly stats: Map<string, string> | undefined;
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
const CAS_BYTES = 8;
const FLAGS_BYTES = 4;

/** All commands, and the NOOP after them. */
function encode(commands: readonly Command[], first: number): Buffer {
	let size = HEADER;
	for (const { key, extras, value } of commands) {
		size += HEADER + key.length + (extras?.length ?? 0);
		if (value !== undefined) size += Buffer.byteLength(value);
	}
	const bytes = Buffer.allocUnsafe(size).fill(0);
	let at = 0;
	for (let index = 0; index < commands.length; index++) {
		const command = commands[index] as Command;
		const { opcode, key, extras, value, cas } = command;
		const start = at;
		at += HEADER;
		if (extras !== undefined) at += extras.copy(bytes, at);
		// Keys are short: this is faster than a call for each.
		for (let n = 0; n < key.length; n++) bytes[at++] = key.charCodeAt(n);
		if (value !== undefined) at += bytes.write(value, at);
		bytes[start + EXTRAS_AT] = extras?.length ?? 0;
		bytes[start + KEY_AT] = key.length >>> 8;
		bytes[start + KEY_AT + 1] = key.length;
		if (cas !== undefined) bytes.write(cas, start + CAS_AT, "latin1");
		writeStart(bytes, start, opcode, first + index, at - start - HEADER);
	}
	writeStart(bytes, at, OPCODE.NOOP, first + commands.length, 0);
	return bytes;
}

/** The fields of a header that every request has; `bytes` are zero. */
function writeStart(
	bytes: Buffer,
	at: number,
	opcode: number,
	opaque: number,
	body: number,
): void {
	bytes[at] = REQUEST_MAGIC;
	bytes[at + 1] = opcode;
	bytes[at + BODY_AT] = body >>> 24;
	bytes[at + BODY_AT + 1] = body >>> 16;
	bytes[at + BODY_AT + 2] = body >>> 8;
	bytes[at + BODY_AT + 3] = body;
	bytes[at + OPAQUE_AT] = opaque >>> 24;
	bytes[at + OPAQUE_AT + 1] = opaque >>> 16;
	bytes[at + OPAQUE_AT + 2] = opaque >>> 8;
	bytes[at + OPAQUE_AT + 3] = opaque;
}
