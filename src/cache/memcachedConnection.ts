import { type Response, Server, Utils } from "memjs";
import type { ClientConnection } from "./cacheConnection.ts";

/** A command of memcached's binary protocol. */
export interface Command {
	readonly opcode: number;
	readonly key: string;
	readonly extras?: Buffer;
	readonly value?: string;
	/** The item has to be the one that had this; what comes instead is refused. */
	readonly cas?: Buffer;
}

export interface MemcachedResponse {
	readonly status: number;
	/** Of the item, 0 if none came. */
	readonly flags: number;
	readonly value: string;
	readonly cas: Buffer;
}

export const OPCODE = {
	/** The Q ones answer only what is not expected of them: GETQ a hit, the others a failure. */
	GETQ: 0x09,
	ADD: 0x02,
	SETQ: 0x11,
	DELETEQ: 0x14,
	NOOP: 0x0a,
} as const;

export const STATUS = { OK: 0, NOT_FOUND: 1, EXISTS: 2 } as const;

/**
 * One connection to one memcached: memjs's, with our own matching of answers.
 *
 * Many commands go out in one write, with a NOOP behind them; memcached
 * answers in order, so the NOOP's answer says that no more will come, and a
 * quiet get without an answer is a miss. Each command has its own opaque number.
 *
 * memjs's own calls wait for ever after a half answer or a server that closed,
 * because its `Server` reuses itself for a second socket (FIELD §3.1). This one
 * is never used after its socket failed, and memjs's timers are not used at all
 * but the one for connecting, which is longer than any deadline of ours.
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
		// memjs takes them from the environment when none are given.
		this.username = undefined;
		this.password = undefined;
		this.#lost = lost;
		this.sock(false, (socket) => {
			socket.setNoDelay(true);
			socket.once("close", () =>
				this.error(new Error("memcached closed the connection")),
			);
		});
	}

	/** The answers by the commands' order; undefined where memcached kept quiet. */
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
			answers: new Array(commands.length).fill(undefined),
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
			at > batch.answers.length
		) {
			this.error(new Error("memcached answered what was not asked"));
		} else if (at < batch.answers.length) {
			batch.answers[at] = {
				status: header.status,
				flags: extras.length < 4 ? 0 : extras.readUInt32BE(0),
				value: val.toString("utf8"),
				// A copy: the view would keep all that came with it.
				cas: Buffer.from(header.cas),
			};
		} else {
			this.#batches.shift();
			batch.resolve(batch.answers);
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
		this.error(new Error("the connection was closed"));
	}
}

interface Batch {
	readonly first: number;
	readonly answers: (MemcachedResponse | undefined)[];
	resolve(answers: readonly (MemcachedResponse | undefined)[]): void;
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
