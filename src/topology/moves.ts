import { Levels } from "../diagnostics.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";
import { lookAgain } from "./lookAgain.ts";
import { historyPath, type TopologyStore } from "./store.ts";

/**
 * A move of shards as its record and the signs of life of its runner say. The
 * runner is a command that nobody scrapes, so every serving process looks, and
 * its metrics say what it saw.
 */
export interface SeenMove {
	/** `move-20261122011301-5f1c` */
	readonly operation: string;
	readonly from: string;
	readonly to: string;
	readonly step: string;
	/** Whether its runner has given a sign of life since the look before. */
	readonly isHeld: boolean;
	/** Waves by state. */
	readonly waves: ReadonlyMap<string, number>;
	/** The longest time for which writes waited, of all waves so far; null: none has switched. Milliseconds. */
	readonly pauseMs: number | null;
	/** For how long the former copy of some wave has stood as the way back; null: there is none. Milliseconds. */
	readonly wayOpenMs: number | null;
	/** For how long it has waited for the same thing, as far as this process knows; 0: it waits for nothing. Milliseconds. */
	readonly waitingMs: number;
	/** The lag of the wave that is being copied; null: not known. */
	readonly lagMs: number | null;
	readonly copiedRows: number | null;
	readonly differences: number | null;
}

/** The moves that are not over, as each watch has seen them last. */
export const SEEN_MOVES = new Levels<readonly SeenMove[]>();

const LOOK_MS = 10_000;
const OVER = ["done", "rolled back"];

type Store = Pick<TopologyStore, "get" | "list">;

interface Look {
	/** The revision of the last sign of life; null: there was none. */
	readonly revision: string | null;
	/** What it waits for, and since when. */
	readonly waitsFor: string | null;
	readonly since: number;
}

/** Looks at the moves of a fleet every ten seconds, until it is disposed of. */
export class MoveWatch implements AsyncDisposable {
	readonly #store: Store;
	readonly #level: Disposable;
	readonly #looking: AsyncDisposable;
	/** Moves that are over stay so, and other operations no moves. */
	readonly #over = new Set<string>();
	readonly #looks = new Map<string, Look>();
	#seen: readonly SeenMove[] = [];

	constructor(store: Store, lookMs = LOOK_MS) {
		this.#store = store;
		this.#level = SEEN_MOVES.add(() => this.#seen);
		this.#looking = lookAgain(lookMs, async () => {
			this.#seen = await this.#read();
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#level[Symbol.dispose]();
		await this.#looking[Symbol.asyncDispose]();
	}

	async #read(): Promise<readonly SeenMove[]> {
		const names = await this.#store.list("operations");
		const seen: SeenMove[] = [];
		for (const id of names) {
			if (this.#over.has(id)) continue;
			const move = await this.#readMove(id);
			if (move !== null) seen.push(move);
		}
		return seen;
	}

	async #readMove(id: string): Promise<SeenMove | null> {
		const record = objectIn((await this.#store.get(`operations/${id}`))?.text);
		const step = textOf(record.step);
		if (record.kind !== "move" || OVER.includes(step)) {
			this.#over.add(id);
			this.#looks.delete(id);
			return null;
		}
		const beat = await this.#store.get(`heartbeats/${id}`);
		const [, said] = /^\S+ \S+ (.*)$/s.exec(beat?.text ?? "") ?? [];
		const report = objectIn(said);
		const before = this.#looks.get(id);
		const waitsFor =
			typeof report.waitsFor === "string" ? report.waitsFor : null;
		const now = performance.now();
		const isSame = before !== undefined && before.waitsFor === waitsFor;
		const since = isSame ? before.since : now;
		const revision = beat?.revision ?? null;
		this.#looks.set(id, { revision, waitsFor, since });
		const waves = listOf(objectOf(record.move).waves).map(objectOf);
		const pauses = waves.flatMap(({ pauses }) =>
			listOf(pauses).flatMap((ms) => numberOf(ms) ?? []),
		);
		return {
			operation: id,
			from: textOf(record.from),
			to: textOf(record.to),
			step,
			isHeld: revision !== null && revision !== before?.revision,
			waves: new Map(
				[...Map.groupBy(waves, ({ state }) => textOf(state))].map(
					([state, some]) => [state, some.length],
				),
			),
			pauseMs: pauses.length === 0 ? null : Math.max(...pauses),
			wayOpenMs: await this.#wayOpenMs(waves),
			waitingMs: waitsFor === null ? 0 : now - since,
			lagMs: numberOf(report.lagMs),
			copiedRows: numberOf(objectOf(report.rows).copied),
			differences: numberOf(report.differences),
		};
	}

	/** Since the version was published with which the first of these waves switched. */
	async #wayOpenMs(waves: readonly JsonObject[]): Promise<number | null> {
		const versions = waves.flatMap(({ state, version }) =>
			state === "parked" ? (numberOf(version) ?? []) : [],
		);
		if (versions.length === 0) return null;
		const path = historyPath(Math.min(...versions));
		const { at } = objectIn((await this.#store.get(path))?.text);
		const ms = Date.now() - Date.parse(textOf(at));
		return Number.isNaN(ms) ? null : Math.max(0, ms);
	}
}

function objectIn(text: string | undefined): JsonObject {
	return text === undefined || text === ""
		? {}
		: objectOf(JSON.parse(text) as JsonValue);
}

function objectOf(value: JsonValue | undefined): JsonObject {
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as JsonObject)
		: {};
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
	return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function textOf(value: JsonValue | undefined): string {
	return typeof value === "string" ? value : "";
}

function numberOf(value: JsonValue | undefined): number | null {
	return typeof value === "number" ? value : null;
}
