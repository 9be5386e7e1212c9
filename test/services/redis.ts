import { ask } from "./ask.ts";
import { findProgram } from "./program.ts";
import { Server } from "./server.ts";

/**
 * A private, empty Redis. It saves only on SAVE: after SAVE a
 * `restart`, or a `kill` and a `restart`, comes back with what it had then.
 * `args` are further options and win over ours.
 */
export async function startRedis({
	args = [],
	folderName,
}: {
	readonly args?: readonly string[];
	/** What the name of its folder begins with. */
	readonly folderName?: string;
} = {}): Promise<Server> {
	const { command } = await findProgram("redis-server");
	return Server.start({
		scheme: "redis",
		...(folderName !== undefined && { folderName }),
		credentials: "",
		prepare: async () => {},
		command: (folder, port) => [
			...command,
			"--bind",
			"127.0.0.1",
			"--port",
			String(port),
			"--dir",
			folder,
			"--save",
			"",
			"--appendonly",
			"no",
			...args,
		],
		answers: async ({ port, pid }) => {
			const text = await ask(
				{ host: "127.0.0.1", port },
				"INFO",
				/\r\nloading:\d[\s\S]*\r\n$/,
			);
			return (
				text.includes(`\r\nprocess_id:${pid}\r\n`) &&
				text.includes("\r\nloading:0\r\n")
			);
		},
	});
}
