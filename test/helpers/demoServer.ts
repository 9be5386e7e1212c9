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

/** `serve` with the demo graph and GraphiQL, in this process, on a folder of its own. */
export async function serveDemo(
	env: Readonly<Record<string, string>> = {},
): Promise<DemoServer> {
	const folder = temporaryFolder();
	if (env.CORKBOARD_DATA === undefined) await fillWithDemo(folder.path);
	const stopping = new AbortController();
	const welcomed = Promise.withResolvers<string>();
	const ended = command(["serve"], {
		env: {
			PORT: "0",
			CORKBOARD_DATA: folder.path,
			CORKBOARD_LOG: "error",
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
	try {
		const text = await welcomed.promise;
		const [, url] = /serves (http:\/\/\S+)\/graphql/.exec(text) ?? [];
		const [, token] = /^Token +(\S+)$/m.exec(text) ?? [];
		if (url === undefined || token === undefined) {
			throw new Error(`expected an address and a token but got: ${text}`);
		}
		return {
			url,
			token,
			async [Symbol.asyncDispose]() {
				stopping.abort();
				await ended;
				folder[Symbol.dispose]();
			},
		};
	} catch (error) {
		stopping.abort();
		folder[Symbol.dispose]();
		throw error;
	}
}
