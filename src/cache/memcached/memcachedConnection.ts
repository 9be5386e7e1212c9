import { Server } from "memjs";
import { writeOncePerTurn } from "../../util/writeOncePerTurn.ts";
import type { ClientConnection } from "../cacheConnection.ts";
import type { FillLease } from "../sharedCache.ts";

/** An item, or a line that says why there is none. */
export type Response = MemcachedItem | string;

/** The number of one state of an item, in digits. */
type Cas = string;

/** The token of a lease. CAS numbers are those of one connection. */
export interface Token {
	readonly connection: MemcachedConnection;
	readonly cas: Cas;
}

/** What items were asked for. */
export interface Asked {
	readonly connection: MemcachedConnection;
	/** Begins the name of each key. */
	readonly prefix: string;
	readonly keys: readonly string[];
}

/**
 * An item; where it has a value, the hit that readers get: the value, and the
 * right to replace it. It holds what was received with it until both were read or
 * it is dropped.
 */
export class MemcachedItem {
	readonly kind = "hit";
	/** What it answers, and which of the keys. */
	asked: Asked | null = null;
	at = 0;
	readonly flags: number;
	/** Whether the item is an empty one that this command created. */
	readonly isCreated: boolean;
	readonly #bytes: Buffer;
	readonly #casAt: number;
	readonly #valueAt: number;
	readonly #end: number;

	/** `line` is where its line begins, `valueAt` and `end` are where the value begins and ends. */
	constructor(bytes: Buffer, line: number, valueAt: number, end: number) {
		this.#bytes = bytes;
		this.#valueAt = valueAt;
		this.#end = end;
		let flags = 0;
		let casAt = -1;
		let isCreated = false;
		// A space, a letter, and what belongs to the letter.
		for (let at = line + 2; bytes[at] !== CR; at++) {
			if (bytes[at] !== SPACE) continue;
			const letter = bytes[at + 1];
			if (letter === LETTER.f) flags = digitsAt(bytes, at + 2);
			else if (letter === LETTER.c) casAt = at + 2;
			else if (letter === LETTER.W) isCreated = true;
		}
		this.flags = flags;
		this.isCreated = isCreated;
		this.#casAt = casAt;
	}

	get value(): string {
		return this.#bytes.toString("utf8", this.#valueAt, this.#end);
	}

	get lease(): FillLease {
		const { connection, prefix, keys } = this.asked as Asked;
		const token: Token = { connection, cas: this.cas };
		return { key: prefix + keys[this.at], token };
	}

	get cas(): Cas {
		let end = this.#casAt;
		while (isDigit(this.#bytes[end])) end++;
		return this.#bytes.toString("latin1", this.#casAt, end);
	}
}

export interface MemcachedAddress {
	readonly host: string;
	readonly port: number;
	/** User and password, as they are now; absent: none are needed. */
	readonly login?: () => string;
}

/**
 * One connection to one memcached: memjs opens the socket, keeps it alive and
 * says when it failed; what goes over it are memcached's meta commands, which
 * memjs does not speak.
 *
 * Many commands go out in one write, followed by `mn`. memcached responds in
 * order, so the response to `mn` says that no more follow.
 *
 * The calls of memjs itself wait forever after half a response or a closed
 * socket, because its `Server` reuses itself for a second socket. This one is
 * never used after its socket failed. Of memjs's timers it uses only the one for
 * connecting, which is longer than every deadline of ours. A batch is written as
 * one text, and a response is read where it was received, when it is asked for.
 */
export class MemcachedConnection extends Server implements ClientConnection {
	readonly #lost: (error: unknown) => void;
	readonly #batches: PendingResponses[] = [];
	/** The start of a response whose rest was not received yet. */
	#received: Buffer | undefined;
	#failure: Error | undefined;

	constructor(
		{ host, port, login }: MemcachedAddress,
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
		if (login !== undefined) this.#logIn(login);
	}

	/** Before all else, as memcached with an authentication file (-Y) wants it. */
	#logIn(login: () => string): void {
		try {
			const text = login();
			const command = `set login 0 0 ${Buffer.byteLength(text)}\r\n${text}\r\n`;
			const expected = { least: 1, most: 1, line: /^STORED$/ };
			// If it is refused, the connection has failed.
			this.#send([command], expected).catch(() => {});
		} catch (error) {
			this.error(error);
		}
	}

	/** Gives the item of each command, or a line if memcached refused it. Commands are sent at once: callers ask at the end of a turn. */
	ask(commands: readonly string[]): Promise<readonly Response[]> {
		const count = commands.length;
		const expected = { least: count, most: count, line: REFUSAL };
		const responses = this.#send(commands, expected);
		this.sock(false, (socket) => socket.uncork());
		return responses;
	}

	/** Sends quiet commands: only what memcached refused has a response. */
	sendQuiet(commands: readonly string[]): Promise<readonly Response[]> {
		const most = commands.length;
		return this.#send(commands, { least: 0, most, line: REFUSAL });
	}

	/** For each command its line: that it is done, or why not. */
	async tryAll(commands: readonly string[]): Promise<readonly string[]> {
		const count = commands.length;
		const expected = { least: count, most: count, line: OUTCOME };
		return (await this.#send(commands, expected)).map(String);
	}

	/** What memcached says of itself, by name. */
	async stats(): Promise<ReadonlyMap<string, string>> {
		const most = Number.POSITIVE_INFINITY;
		const lines = await this.#send(["stats\r\n"], {
			least: 1,
			most,
			line: STATISTIC,
		});
		return new Map(
			lines.map((line): [string, string] => {
				const [, name = "", value = ""] = String(line).split(" ");
				return [name, value];
			}),
		);
	}

	#send(
		commands: readonly string[],
		expected: Pick<PendingResponses, "least" | "most" | "line">,
	): Promise<readonly Response[]> {
		if (this.#failure) return Promise.reject(this.#failure);
		const { promise, resolve, reject } =
			Promise.withResolvers<readonly Response[]>();
		this.#batches.push({ ...expected, responses: [], resolve, reject });
		const text = `${commands.join("")}mn\r\n`;
		this.sock(false, (socket) => socket.write(text));
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
			const lineEnd = bytes.indexOf(CR, at);
			const isWhole = lineEnd !== -1 && lineEnd + 1 < bytes.length;
			const hasValue = isWhole && isValueLine(bytes, at);
			const valueAt = lineEnd + EOL_BYTES;
			const valueEnd = hasValue ? valueAt + digitsAt(bytes, at + 3) : lineEnd;
			if (!isWhole || valueEnd + EOL_BYTES > bytes.length) {
				this.#received = at === 0 ? bytes : bytes.subarray(at);
				if (!isWhole && bytes.length - at > MAX_LINE_BYTES) {
					this.error(new Error("memcached sent a line without an end."));
				}
				return;
			}
			this.#respond(bytes, at, valueAt, valueEnd);
			at = valueEnd + EOL_BYTES;
		}
	}

	#respond(bytes: Buffer, line: number, valueAt: number, end: number): void {
		const batch = this.#batches[0];
		const response = isValueLine(bytes, line)
			? new MemcachedItem(bytes, line, valueAt, end)
			: bytes.toString("latin1", line, end);
		if (response === "MN" && batch && batch.responses.length >= batch.least) {
			this.#batches.shift();
			batch.resolve(batch.responses);
			return;
		}
		const isExpected =
			typeof response === "string"
				? batch?.line.test(response)
				: bytes[end] === CR && batch?.line === REFUSAL;
		if (batch && isExpected && batch.responses.length < batch.most) {
			batch.responses.push(response);
		} else {
			this.error(
				new Error(
					response === "ERROR"
						? "memcached knows no meta commands: install version 1.6.13 or later."
						: "memcached sent a response that matches no command.",
				),
			);
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

interface PendingResponses {
	/** How many responses come before that to `mn`. */
	readonly least: number;
	readonly most: number;
	/** Lines without an item that may be among them. */
	readonly line: RegExp;
	readonly responses: Response[];
	resolve(responses: readonly Response[]): void;
	reject(error: Error): void;
}

/** The item has another number, there is none, it was not stored, or there is no room. */
const REFUSAL = /^(?:EX|NF|NS|SERVER_ERROR .*)$/;
/** The same, and what was done or found. */
const OUTCOME = /^(?:HD.*|EN|EX|NF|NS|(?:SERVER|CLIENT)_ERROR .*)$/;
const STATISTIC = /^(?:STAT .*|END)$/;

const CONNECT_LIMIT_S = 60;
const KEEP_ALIVE_S = 30;

const CR = 0x0d;
const SPACE = 0x20;
const EOL_BYTES = 2;
const LETTER = { A: 0x41, V: 0x56, W: 0x57, c: 0x63, f: 0x66 } as const;
/** No line of memcached is as long, stats included. */
const MAX_LINE_BYTES = 2_048;

/** `VA SIZE FLAGS`, which a value follows. */
function isValueLine(bytes: Buffer, at: number): boolean {
	return (
		bytes[at] === LETTER.V &&
		bytes[at + 1] === LETTER.A &&
		bytes[at + 2] === SPACE
	);
}

function isDigit(byte: number | undefined): boolean {
	return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** The number that begins there. */
function digitsAt(bytes: Buffer, from: number): number {
	let number = 0;
	for (let at = from; isDigit(bytes[at]); at++) {
		number = number * 10 + (bytes[at] as number) - 0x30;
	}
	return number;
}
