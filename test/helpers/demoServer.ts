import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { fillWithDemo } from "./demoFolder.ts";
import { command } from "./runCommand.ts";
import { temporaryFolder } from "./temporaryFolder.ts";

export interface DemoServer extends AsyncDisposable {
	/** Without a path. */
	readonly url: string;
	/** The demo user's. */
	readonly token: string;
}

export interface ServedHere extends AsyncDisposable {
	/** Without a path. */
	readonly url: string;
	/** All that it printed on its start. */
	readonly banner: string;
	/** As SIGTERM does; its exit code. */
	stop(): Promise<{ readonly code: number }>;
}

/**
 * `serve` on a data folder, in this process: it spares a second of CPU. What
 * depends on a process of its own (signals, locks, its exit) needs that one.
 */
export function serveHere(
	env: Readonly<Record<string, string>>,
): Promise<ServedHere> {
	return start({
		CORKBOARD_DEMO: "off",
		CORKBOARD_GRAPHIQL: "off",
		...env,
	});
}

async function start(
	env: Readonly<Record<string, string>>,
): Promise<ServedHere> {
	const stopping = new AbortController();
	const welcomed = Promise.withResolvers<string>();
	const ended = command(["serve"], {
		env: {
			PORT: "0",
			CORKBOARD_LOG: "error",
			CORKBOARD_SHUTDOWN_DELAY: "0",
			...env,
		},
		open: openCorkboard,
		isOutputTerminal: true,
		interruptSignal: () => stopping.signal,
		stdout: welcomed.resolve,
	});
	ended.then(({ code, err }) =>
		welcomed.reject(new Error(`serve ended with ${code}: ${err}`)),
	);
	const stop = () => {
		stopping.abort();
		return ended;
	};
	const banner = await welcomed.promise;
	const [, url] = /serves (http:\/\/\S+)\/graphql/.exec(banner) ?? [];
	if (url === undefined) {
		await stop();
		throw new Error(`expected an address but got: ${banner}`);
	}
	return {
		url,
		banner,
		stop,
		async [Symbol.asyncDispose]() {
			await stop();
		},
	};
}

/** `serve` with the demo graph and GraphiQL, in this process, on a folder of its own. */
export async function serveDemo(
	env: Readonly<Record<string, string>> = {},
): Promise<DemoServer> {
	const folder = temporaryFolder();
	try {
		if (env.CORKBOARD_DATA === undefined) await fillWithDemo(folder.path);
		const server = await start({ CORKBOARD_DATA: folder.path, ...env });
		const [, token] = /^Token +(\S+)$/m.exec(server.banner) ?? [];
		if (token === undefined) {
			await server.stop();
			throw new Error(`expected a token but got: ${server.banner}`);
		}
		return {
			url: server.url,
			token,
			async [Symbol.asyncDispose]() {
				await server.stop();
				folder[Symbol.dispose]();
			},
		};
	} catch (error) {
		folder[Symbol.dispose]();
		throw error;
	}
}
