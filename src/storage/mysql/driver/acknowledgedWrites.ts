import type {
	HostAnswer,
	HostQuestion,
	RememberedWrite,
} from "../../../topology/asks.ts";
import {
	type DatabaseHost,
	TOPOLOGY_CHANNELS,
} from "../../../topology/diagnostics.ts";
import {
	type AcknowledgedCommit,
	STORAGE_CHANNELS,
} from "../../diagnostics.ts";
import { AcknowledgedGtids } from "./acknowledgedGtids.ts";
import { parseGtidSet } from "./gtidSet.ts";

/** Of each host the last writes are remembered by name. */
const REMEMBERED = 10_000;
/** Of an answer: a store takes a megabyte. */
const NAMED = 2_000;
/** A host that acknowledged something this recently is reached. Milliseconds. */
const REACHED_MS = 1_000;

interface HostMemory {
	readonly gtids: AcknowledgedGtids;
	/** The newest is before `next`; the oldest is overwritten. */
	readonly writes: RememberedWrite[];
	next: number;
	acknowledgedAt: number;
	isDown: boolean;
}

/**
 * What database hosts have acknowledged to this process. A host that dies may
 * have kept some of it to itself: whoever promotes its replica asks all
 * processes, and knows what is lost.
 */
export class AcknowledgedWrites implements Disposable {
	readonly #hosts = new Map<string, HostMemory>();

	constructor() {
		STORAGE_CHANNELS.acknowledgedCommit.subscribe(this.#note);
		TOPOLOGY_CHANNELS.databaseHost.subscribe(this.#noteState);
	}

	answer({ host, missing }: HostQuestion): HostAnswer {
		const known = this.#hosts.get(host);
		if (known === undefined) {
			return { acknowledged: "", state: "idle", writes: [] };
		}
		const isReached = performance.now() - known.acknowledgedAt < REACHED_MS;
		const missed = missing === null ? null : parseGtidSet(missing);
		const writes = [
			...known.writes.slice(known.next),
			...known.writes.slice(0, known.next),
		];
		return {
			acknowledged: known.gtids.set,
			state: known.isDown ? "lost" : isReached ? "reached" : "idle",
			writes:
				missed === null
					? []
					: writes.filter(({ gtid }) => missed.has(gtid)).slice(-NAMED),
		};
	}

	[Symbol.dispose](): void {
		STORAGE_CHANNELS.acknowledgedCommit.unsubscribe(this.#note);
		TOPOLOGY_CHANNELS.databaseHost.unsubscribe(this.#noteState);
	}

	readonly #note = ({ host, gtid, wrote }: AcknowledgedCommit): void => {
		const known = this.#hostOf(host);
		known.gtids.note(gtid);
		known.acknowledgedAt = performance.now();
		known.writes[known.next] = { gtid, at: Date.now(), wrote };
		known.next = (known.next + 1) % REMEMBERED;
	};

	readonly #noteState = ({ host, state }: DatabaseHost): void => {
		this.#hostOf(host).isDown = state === "down";
	};

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
