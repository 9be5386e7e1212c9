import { fillWithDemo } from "../helpers/demoFolder.ts";
import { type Environment, type Served, serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

export interface DemoServer extends AsyncDisposable {
	/** With its path: what a client is given. */
	readonly url: string;
	/** The demo user's. */
	readonly token: string;
	readonly program: Served;
}

/** The program, serving the demo graph from a folder of its own. */
export async function serveDemo(env: Environment = {}): Promise<DemoServer> {
	const folder = temporaryFolder();
	try {
		await fillWithDemo(folder.path);
		const program = await serve({
			CORKBOARD_DATA: folder.path,
			CORKBOARD_DEMO: "on",
			...env,
		});
		await program.printed("out", /^Demo user +marigold_01$/m);
		const { out } = await runHere(["tokens", "create", "marigold_01"], {
			env: { CORKBOARD_DATA: folder.path },
		});
		const token = out.trim();
		return {
			url: `${program.url}/graphql`,
			token,
			program,
			async [Symbol.asyncDispose]() {
				await program[Symbol.asyncDispose]();
				folder[Symbol.dispose]();
			},
		};
	} catch (error) {
		folder[Symbol.dispose]();
		throw error;
	}
}
