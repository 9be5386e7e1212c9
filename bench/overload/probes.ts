import { request } from "node:http";

const EVERY_MS = 200;
const LIMIT_MS = 3_000;

/** What somebody sees who asks for health and metrics all the time. */
export interface Probed {
	readonly name: string;
	readonly asked: number;
	/** Responses that were not 200. */
	readonly bad: number;
	/** The longest. Milliseconds. */
	readonly ms: number;
}

/** Asks until it is stopped, on a new connection each time, as an orchestrator does. */
export class Probes {
	readonly #running: Promise<Probed>[];
	#isOver = false;

	/** URLs by the name that they are shown with. */
	constructor(urls: Readonly<Record<string, string>>) {
		this.#running = Object.entries(urls).map(([name, url]) =>
			this.#run(name, new URL(url)),
		);
	}

	stop(): Promise<readonly Probed[]> {
		this.#isOver = true;
		return Promise.all(this.#running);
	}

	async #run(name: string, url: URL): Promise<Probed> {
		let asked = 0;
		let bad = 0;
		let most = 0;
		while (!this.#isOver) {
			const began = performance.now();
			const status = await statusOf(url);
			asked++;
			if (status !== 200) bad++;
			most = Math.max(most, performance.now() - began);
			await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
		}
		return { name, asked, bad, ms: most };
	}
}

/** 0 if nothing came in time. */
function statusOf(url: URL): Promise<number> {
	return new Promise((resolve) => {
		const asking = request(
			url,
			{ agent: false, timeout: LIMIT_MS },
			(response) => {
				response.resume();
				response.on("end", () => resolve(response.statusCode ?? 0));
			},
		);
		asking.on("timeout", () => asking.destroy());
		asking.on("error", () => resolve(0));
		asking.end();
	});
}
