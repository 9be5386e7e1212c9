import { listen } from "../../../diagnostics.ts";
import type {
	HostAnswer,
	HostQuestion,
	RememberedWrite,
} from "../../../topology/asks.ts";
import { TOPOLOGY_CHANNELS } from "../../../topology/diagnostics.ts";
import { STORAGE_CHANNELS } from "../../diagnostics.ts";
import { GtidSet } from "./gtidSet.ts";

/** The last writes of each host, which are remembered by name. */
const REMEMBERED = 10_000;
/** Writes in an answer: a store takes a megabyte. */
const NAMED = 2_000;
/** A host that acknowledged something this recently is reached. Milliseconds. */
const REACHED_MS = 1_000;

interface HostMemory {
	readonly gtids: AcknowledgedGtids;
	/**
	 * Each as JSON of `RememberedWrite`: one string takes less memory than an object
	 * with a list of names. The newest is before `next`; the oldest is overwritten.
	 */
	readonly writes: string[];
	next: number;
	acknowledgedAt: number;
	isDown: boolean;
}

/**
 * What database hosts have acknowledged to this process. A host that dies may
 * have kept some of it to itself: the command that promotes its replica asks all
 * processes, and knows what is lost.
 */
export class AcknowledgedWrites implements Disposable {
	readonly #hosts = new Map<string, HostMemory>();

	readonly #listeners = [
		listen(STORAGE_CHANNELS.acknowledgedCommit, ({ host, gtid, wrote }) => {
			const known = this.#hostOf(host);
			known.gtids.note(gtid);
			known.acknowledgedAt = performance.now();
			const write: RememberedWrite = { gtid, at: Date.now(), wrote };
			known.writes[known.next] = JSON.stringify(write);
			known.next = (known.next + 1) % REMEMBERED;
		}),
		listen(TOPOLOGY_CHANNELS.databaseHost, ({ host, state }) => {
			this.#hostOf(host).isDown = state === "down";
		}),
	];

	answer({ host, missing }: HostQuestion): HostAnswer {
		const known = this.#hosts.get(host);
		if (known === undefined) {
			return { acknowledged: "", state: "idle", writes: [] };
		}
		const isReached = performance.now() - known.acknowledgedAt < REACHED_MS;
		return {
			acknowledged: known.gtids.set,
			state: known.isDown ? "lost" : isReached ? "reached" : "idle",
			writes: missing === null ? [] : writesOf(known, new GtidSet(missing)),
		};
	}

	[Symbol.dispose](): void {
		for (const listener of this.#listeners) listener[Symbol.dispose]();
	}

	#hostOf(name: string): HostMemory {
		let known = this.#hosts.get(name);
		if (known === undefined) {
			known = {
				gtids: new AcknowledgedGtids(),
				writes: [],
				next: 0,
				acknowledgedAt: Number.NEGATIVE_INFINITY,
				isDown: false,
			};
			this.#hosts.set(name, known);
		}
		return known;
	}
}

/** The newest of these transactions, oldest first. */
function writesOf(
	{ writes, next }: HostMemory,
	gtids: GtidSet,
): readonly RememberedWrite[] {
	return [...writes.slice(next), ...writes.slice(0, next)]
		.map((text): RememberedWrite => JSON.parse(text))
		.filter(({ gtid }) => gtids.has(gtid))
		.slice(-NAMED);
}

/**
 * The highest GTID of each source that one process was acknowledged a COMMIT
 * with. A server numbers its transactions in the order in which it commits
 * them, so all up to the highest were committed: what of these a promoted
 * replica lacks is lost.
 */
export class AcknowledgedGtids {
	/** By `UUID`, or `UUID:TAG`. */
	readonly #highest = new Map<string, number>();

	/** `UUID:NUMBER`, as the server sends it with the answer to a COMMIT. */
	note(gtid: string): void {
		const colon = gtid.lastIndexOf(":");
		const number = Number(
			gtid.slice(Math.max(colon, gtid.lastIndexOf("-")) + 1),
		);
		if (colon < 0 || !Number.isSafeInteger(number)) return;
		const source = gtid.slice(0, colon);
		if (number > (this.#highest.get(source) ?? 0)) {
			this.#highest.set(source, number);
		}
	}

	/** As a set of MySQL, `UUID:1-NUMBER,…`; empty if nothing was acknowledged. */
	get set(): string {
		return [...this.#highest]
			.map(([source, number]) => `${source}:1-${number}`)
			.join(",");
	}
}
