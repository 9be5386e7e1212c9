import { setTimeout as sleep } from "node:timers/promises";
import { nameOf } from "../../../src/fleet/map/mapRanges.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import type { Topology } from "../../../src/topology/types.ts";
import type { Server } from "../../services/server.ts";

/** For so long a shard took no writes. Milliseconds on the monotonic clock. */
export interface Fenced {
	readonly from: number;
	readonly to: number;
}

const LOOK_MS = 40;
const ANSWER_MS = 1_000;

/** Looks all the time for databases that are fenced on the server which the map names: writes to those wait. A former copy may stay fenced. */
export class FenceWatch implements AsyncDisposable {
	readonly #store: TopologyStore;
	readonly #servers: readonly FleetServer[];
	readonly #fenced: Fenced[] = [];
	readonly #stopping = new AbortController();
	readonly #looking: Promise<unknown>;
	#topology: Topology | null = null;
	/** When the fence that stands now was seen first; null: none stands. */
	#since: number | null = null;

	constructor(store: TopologyStore, hosts: readonly Server[]) {
		this.#store = store;
		this.#servers = hosts.map(({ url }) => new FleetServer(url, {}));
		this.#looking = Promise.all([this.#followMap(), this.#look()]);
	}

	/** All so far, also the one that stands. */
	get fenced(): readonly Fenced[] {
		return this.#since === null
			? this.#fenced
			: [...this.#fenced, { from: this.#since, to: performance.now() }];
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#stopping.abort();
		await this.#looking;
		for (const server of this.#servers) await server[Symbol.asyncDispose]();
	}

	async #followMap(): Promise<void> {
		while (await this.#isGoingOn()) {
			try {
				const current = await readCurrent(this.#store);
				this.#topology = current?.topology ?? null;
			} catch {
				// A store that is away publishes nothing.
			}
		}
	}

	async #look(): Promise<void> {
		while (await this.#isGoingOn()) {
			const at = performance.now();
			const found = await Promise.all(
				this.#servers.map((server) =>
					this.#servesFenced(server).catch(() => null),
				),
			);
			if (found.includes(true)) this.#since ??= at;
			// One that does not answer may be fenced still.
			else if (!found.includes(null) && this.#since !== null) {
				this.#fenced.push({ from: this.#since, to: at });
				this.#since = null;
			}
		}
	}

	async #servesFenced(server: FleetServer): Promise<boolean> {
		const rows = await server.rows(
			"fences",
			"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%'",
			[],
			ANSWER_MS,
		);
		const served = (this.#topology?.shards ?? []).filter(
			({ primary }) => nameOf(primary) === server.name,
		);
		return rows.some(([name]) => {
			const shard = Number(/^db(\d+)$/.exec(String(name))?.[1]);
			return served.some(
				({ range: [first, last] }) => first <= shard && shard <= last,
			);
		});
	}

	async #isGoingOn(): Promise<boolean> {
		const { signal } = this.#stopping;
		await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
		return !signal.aborted;
	}
}
