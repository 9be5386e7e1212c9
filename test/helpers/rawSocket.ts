import { once } from "node:events";
import { connect } from "node:net";

/** A connection on which a test writes what it wants. */
export interface RawSocket extends Disposable {
	/** What the server sent, as far as it was read. */
	readonly received: () => string;
	/** The status of each response received. */
	readonly statuses: () => readonly number[];
	/** Resolves when the server has closed the connection. */
	readonly closed: Promise<unknown>;
	write(text: string): void;
	/** Stop reading. */
	pause(): void;
	resume(): void;
}

export async function openSocket(url: string): Promise<RawSocket> {
	const socket = connect(Number(new URL(url).port), "127.0.0.1");
	let received = "";
	socket.on("data", (data) => {
		received += data;
	});
	// A reset is one of the ways in which a connection ends.
	socket.on("error", () => {});
	const closed = new Promise((resolve) => socket.once("close", resolve));
	await once(socket, "connect");
	return {
		received: () => received,
		statuses: () =>
			[...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) =>
				Number(status),
			),
		closed,
		write: (text) => void socket.write(text),
		pause: () => void socket.pause(),
		resume: () => void socket.resume(),
		[Symbol.dispose]: () => void socket.destroy(),
	};
}

/** A POST of a query, as it is sent. */
export function postText(query: string): string {
	const body = JSON.stringify({ query });
	return `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
