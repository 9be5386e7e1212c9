import { once } from "node:events";
import { connect } from "node:net";

/** No server takes nearly as long, even on busy cores. */
const LIMIT_MS = 60_000;

/** Sends one line to a server that speaks lines, and answers what comes back up to `end`. */
export async function ask(
	{ host, port }: { readonly host: string; readonly port: number },
	line: string,
	end: RegExp,
): Promise<string> {
	const socket = connect(port, host);
	const signal = AbortSignal.timeout(LIMIT_MS);
	try {
		socket.setEncoding("utf8");
		socket.on("error", () => {});
		await once(socket, "connect", { signal });
		socket.write(`${line}\r\n`);
		let text = "";
		while (!end.test(text)) {
			const [chunk] = await once(socket, "data", { signal });
			text += chunk;
		}
		return text;
	} finally {
		socket.destroy();
	}
}
