import { setTimeout as sleep } from "node:timers/promises";
import { openShards } from "../../topology/ranges.ts";
import type { Topology } from "../../topology/types.ts";
import { namedReasonOf } from "../../util/reasonOf.ts";
import { STORAGE_CHANNELS } from "../diagnostics.ts";

/** Open shards of one range, and what was found there last. */
interface Watched {
	readonly shards: readonly number[];
	/** Null while it is not known. */
	missing: readonly string[] | null;
	/** Whether it was looked at, with or without an answer. */
	isLooked: boolean;
	/** What was reported last; "" for open. */
	reported: string;
}

/**
 * The shards of one version of a topology on which new objects may be created:
 * those that it opens, without those that lack tables. These are *held*: an
 * operator may open a range before `init` ran there. They are looked at again
 * until they have their tables. `STORAGE_CHANNELS.heldShards` reports both.
 *
 * A range that a newer version opens is held until it is known to have all its
 * tables, and at the start one whose host does not answer. At the start shards
 * may lack tables that came with an update of this program, without which most of
 * it works: then only a range is held that lacks more than all open ranges do.
 */
export class OpenShards implements Disposable {
	readonly #topology: Topology;
	readonly #missingTables: (
		shards: readonly number[],
	) => Promise<readonly string[]>;
	readonly #isFirst: boolean;
	readonly #watched: readonly Watched[];
	readonly #stop = new AbortController();
	#held: ReadonlySet<number>;
	#shards: readonly number[];

	constructor(
		topology: Topology,
		missingTables: (shards: readonly number[]) => Promise<readonly string[]>,
		/** Open in the version before; null: there was none. */
		before: ReadonlySet<number> | null,
		/** Between two looks. Milliseconds. */
		againMs: number,
	) {
		this.#topology = topology;
		this.#missingTables = missingTables;
		this.#isFirst = before === null;
		this.#watched = topology.shards.flatMap((range) => {
			const shards = openShards({ ...topology, shards: [range] }).filter(
				(shard) => before?.has(shard) !== true,
			);
			return shards.length === 0
				? []
				: [{ shards, missing: null, isLooked: false, reported: "" }];
		});
		this.#held = new Set();
		this.#shards = [];
		this.#hold();
		if (this.#watched.length > 0) void this.#watch(againMs);
	}

	get shards(): readonly number[] {
		return this.#shards;
	}

	[Symbol.dispose](): void {
		this.#stop.abort();
	}

	async #watch(againMs: number): Promise<void> {
		const { signal } = this.#stop;
		for (;;) {
			const looked = this.#watched.filter(
				({ missing }) => missing?.length !== 0,
			);
			const errors = new Map<Watched, unknown>();
			await Promise.all(
				looked.map(async (range) => {
					try {
						range.missing = await this.#missingTables(range.shards);
					} catch (error) {
						range.missing = null;
						errors.set(range, error);
					}
				}),
			);
			if (signal.aborted) return;
			for (const range of looked) range.isLooked = true;
			this.#hold();
			for (const range of looked) this.#report(range, errors.get(range));
			if (this.#held.size === 0 && errors.size === 0) return;
			await sleep(againMs, undefined, { signal, ref: false }).catch(() => {});
			if (signal.aborted) return;
		}
	}

	#hold(): void {
		const usual = this.#isFirst ? missingEverywhere(this.#watched) : new Set();
		const held = this.#watched.filter(({ missing, isLooked }) =>
			missing === null
				? !this.#isFirst || isLooked
				: missing.some((table) => !usual.has(withoutDatabase(table))),
		);
		const all = openShards(this.#topology);
		const shards = new Set(held.flatMap((range) => range.shards));
		const rest = all.filter((shard) => !shards.has(shard));
		// With nothing open, an error that names the missing table says more.
		this.#held = rest.length === 0 ? new Set() : shards;
		this.#shards = rest.length === 0 ? all : rest;
	}

	#report(range: Watched, error: unknown): void {
		const { shards, missing } = range;
		const isHeld = this.#held.has(shards[0] as number);
		const now = !isHeld
			? ""
			: missing === null
				? namedReasonOf(error)
				: "missing";
		if (now === range.reported) return;
		range.reported = now;
		STORAGE_CHANNELS.heldShards.publish({
			state: isHeld ? "held" : "open",
			shards,
			missing: missing ?? [],
			...(error !== undefined && { error }),
		});
	}
}

/** Tables that each range lacks of which that is known. */
function missingEverywhere(ranges: readonly Watched[]): ReadonlySet<string> {
	const known = ranges.flatMap(({ missing }) =>
		missing === null ? [] : [new Set(missing.map(withoutDatabase))],
	);
	const [first = new Set<string>(), ...others] = known;
	return new Set(
		[...first].filter((table) => others.every((other) => other.has(table))),
	);
}

/** `db00003.pins` → `pins`: each shard has the same. */
function withoutDatabase(table: string): string {
	return table.slice(table.indexOf(".") + 1);
}
