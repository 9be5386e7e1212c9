import { ask } from "./ask.ts";
import { findProgram } from "./program.ts";
import { Server } from "./server.ts";

/** The most memory for values (MB). */
const MEMORY_MB = 64;

/** A memcached for the caller alone. It is empty, also after `restart`. `args` are further options and win over ours. */
export async function startMemcached({
	args = [],
}: {
	readonly args?: readonly string[];
} = {}): Promise<Server> {
	const { command } = await findProgram("memcached");
	return Server.start({
		scheme: "memcached",
		credentials: "",
		prepare: async () => {},
		command: (_, port) => [
			...command,
			"--listen=127.0.0.1",
			`--port=${port}`,
			`--memory-limit=${MEMORY_MB}`,
			// It does not run as root without this option.
			...(process.getuid?.() === 0 ? ["--user=root"] : []),
			...args,
		],
		answers: async ({ port, pid }) => {
			const at = { host: "127.0.0.1", port };
			// It says nothing of itself to those who do not log in.
			if (args.includes("-Y"))
				return /^CLIENT/.test(await ask(at, "stats", /\n$/));
			const text = await ask(at, "stats", /END\r\n$/);
			return text.includes(`STAT pid ${pid}\r\n`);
		},
	});
}
