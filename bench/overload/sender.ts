/** Sends requests at their times, as a process of its own. */
import {
	type Ended,
	OpenLoop,
	type Sent,
	type Source,
	sleep,
} from "../load/openLoop.ts";
import {
	type Clients,
	type OpenLoad,
	type OpenResult,
	OUTCOMES,
} from "./messages.ts";
import { quantile } from "./report.ts";

/** Time for the first connections. */
const CONNECT_MS = 500;

interface Listed extends Sent {
	/** Its index among the requests. */
	readonly index: number;
}

/** The requests of one kind of clients, over and over, and what became of them. */
class Sending implements Source<Listed> {
	readonly #clients: Clients;
	readonly #requests: readonly Listed[];
	readonly #loop: OpenLoop<Listed>;
	readonly #at: number[] = [];
	readonly #ms: number[] = [];
	readonly #outcome: number[] = [];
	readonly #indexes: number[] = [];
	#firstError: string | null = null;
	#next = 0;

	constructor(clients: Clients, { port, patienceMs }: OpenLoad) {
		this.#clients = clients;
		this.#requests = clients.requests.map((text, index) => ({
			request: Buffer.from(text),
			index,
		}));
		const { address, connections } = clients;
		this.#loop = new OpenLoop(this, {
			port,
			address,
			connections,
			patienceMs,
			keepsBodies: false,
		});
	}

	next(): Listed {
		return this.#requests[this.#next++ % this.#requests.length] as Listed;
	}

	ended({ index }: Listed, { at, ms, outcome, why }: Ended): void {
		this.#at.push(at);
		this.#ms.push(ms);
		this.#outcome.push(OUTCOMES.indexOf(outcome));
		this.#indexes.push(index);
		if (outcome !== "answered" && !outcome.startsWith("refused")) {
			this.#firstError ??= why;
		}
	}

	async run(): Promise<OpenResult> {
		const began = performance.now();
		await this.#loop.run(this.#clients.phases, this.#clients.seed);
		return {
			name: this.#clients.name,
			at: Float64Array.from(this.#at, (at) => (at - began) / 1_000),
			ms: Float64Array.from(this.#ms),
			outcome: Uint8Array.from(this.#outcome),
			request: Uint32Array.from(this.#indexes),
			lateMs: quantile(this.#loop.late, 0.99),
			firstError: this.#firstError,
		};
	}
}

process.on("message", async (load: OpenLoad) => {
	const all = load.clients.map((clients) => new Sending(clients, load));
	await sleep(CONNECT_MS);
	const results = await Promise.all(all.map((sending) => sending.run()));
	process.send?.(results);
});
// It does not outlive the benchmark.
process.on("disconnect", () => process.exit(0));
process.on("SIGINT", () => {});
