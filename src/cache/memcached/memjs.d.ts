/** memjs 1.3.2 ships no types. These cover the part in use. */
declare module "memjs" {
	import type { Socket } from "node:net";

	/**
	 * One connection: connects, and calls `responseHandler` with what it receives
	 * and `error` when the connection fails.
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
		responseHandler(chunk: Buffer): void;
		/** Destroys the socket. */
		error(reason: unknown): void;
		close(): void;
	}
}
