import { type Response, Server, Utils } from "memjs";
import type { ClientConnection } from "./cacheConnection.ts";

/** A command of memcached's binary protocol. */
export interface Command {
	readonly opcode: number;
	readonly key: string;
	readonly extras?: Buffer;
	readonly value?: string;
	/** The command applies only if the item still has this CAS number. */
	readonly cas?: Buffer;
}

export interface MemcachedResponse {
	readonly status: number;
	/** Of the item; 0 if the response has none. */
	readonly flags: number;
	readonly value: string;
	readonly cas: Buffer;
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
 * One connection to one memcached: that of memjs, with our own matching of
 * responses to commands.
 *
 * Many commands go out in one write, followed by a NOOP. memcached responds in
 * order, so the response to the NOOP says that no more follow, and a quiet get
 * without a response is a miss. Each command has its own opaque number.
 *
 * The calls of memjs itself wait forever after half a response or a closed
 * socket, because its `Server` reuses itself for a second socket. This one is
 * never used after its socket failed. Of memjs's timers it uses only the one for
 * connecting, which is longer than every deadline of ours.
 */
export class MemcachedConnection extends Server implements ClientConnection {
	readonly #lost: (error: unknown) => void;
	readonly #batches: Batch[] = [];
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
		const requests = commands.map((command, at) => encode(command, first + at));
		requests.push(
			Utils.makeRequestBuffer(OPCODE.NOOP, "", "", "", first + commands.length),
		);
		const { promise, resolve, reject } =
			Promise.withResolvers<readonly (MemcachedResponse | undefined)[]>();
		this.#batches.push({
			first,
			responses: new Array(commands.length).fill(undefined),
			resolve,
			reject,
		});
		const bytes = Buffer.concat(requests);
		this.sock(false, (socket) => socket.write(bytes));
		return promise;
	}

	override respond({ header, extras, val }: Response): void {
		if (this.#failure) return;
		const batch = this.#batches[0];
		const at = batch === undefined ? -1 : header.opaque - batch.first;
		if (
			batch === undefined ||
			header.magic !== RESPONSE_MAGIC ||
			at < 0 ||
			at > batch.responses.length
		) {
			this.error(
				new Error("memcached sent a response that matches no command."),
			);
		} else if (at < batch.responses.length) {
			batch.responses[at] = {
				status: header.status,
				flags: extras.length < 4 ? 0 : extras.readUInt32BE(0),
				value: val.toString("utf8"),
				// A copy: a view would keep the whole received buffer alive.
				cas: Buffer.from(header.cas),
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

const RESPONSE_MAGIC = 0x81;
const LAST_OPAQUE = 0xffff_ffff;
const CONNECT_LIMIT_S = 60;
const KEEP_ALIVE_S = 30;
const CAS_AT = 16;

function encode(command: Command, opaque: number): Buffer {
	const { opcode, key, extras = "", value = "", cas } = command;
	const request = Utils.makeRequestBuffer(opcode, key, extras, value, opaque);
	cas?.copy(request, CAS_AT);
	return request;
}
