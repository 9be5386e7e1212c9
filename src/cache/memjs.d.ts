/** memjs 1.3.2 ships no types. These cover the part in use. */
declare module "memjs" {
	import type { Socket } from "node:net";

	/**
	 * One connection: connects, parses the stream of responses, and calls
	 * `respond` for each one and `error` when the connection fails.
	 */
	export class Server {
		constructor(
			host: string,
			port: number,
			username: string | undefined,
			password: string | undefined,
			options: {
				/** Seconds. */
				readonly conntimeout: number;
				readonly keepAlive: boolean;
				/** Seconds. */
				readonly keepAliveDelay: number;
			},
		);
		username: string | undefined;
		password: string | undefined;
		/** Calls `go` with the socket once it is connected. Connects if there is no socket. */
		sock(sasl: boolean, go: (socket: Socket) => void): void;
		respond(response: Response): void;
		/** Destroys the socket. */
		error(reason: unknown): void;
		close(): void;
	}

	export interface Response {
		readonly header: {
			readonly magic: number;
			readonly status: number;
			readonly opaque: number;
			/** Eight bytes, a view of what was received. */
			readonly cas: Buffer;
		};
		readonly extras: Buffer;
		readonly val: Buffer;
	}

	export const Utils: {
		makeRequestBuffer(
			opcode: number,
			key: string,
			extras: Buffer | "",
			value: Buffer | string,
			opaque: number,
		): Buffer;
	};
}
