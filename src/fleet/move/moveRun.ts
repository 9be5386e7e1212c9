import { CorkboardError } from "../../errors.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Traces } from "../../traces/openTraces.ts";
import { type PartOptions, RunTrace } from "../../traces/runTrace.ts";
import type { FerryProgress } from "../ferry/ferryOptions.ts";
import { requireCurrent } from "../map/publish.ts";
import {
	type MoveFacts,
	moveFactsIn,
	type Wave,
	withWave,
} from "../operations/moveFacts.ts";
import { type MoveEvent, transition } from "../operations/moveTable.ts";
import type { Operation } from "../operations/operations.ts";
import { asNow, MoveServers } from "./moveServers.ts";

export interface MoveOptions {
	readonly store: TopologyStore;
	readonly environment: Environment;
	/** How many tables of a wave are copied at once. */
	readonly parallel?: number;
	/** How long to wait for the processes of the fleet before a former copy is parked. Milliseconds. */
	readonly agreeMs?: number;
	/** Between two looks at what is waited for. Milliseconds. */
	readonly lookMs?: number;
	/** Before the second try of a cut-over; each further one waits twice as long. Milliseconds. */
	readonly againMs?: number;
	/** How often one cut-over is tried. */
	readonly maxTries?: number;
	/** Called with each step that is done, of the operation of this id. */
	readonly onStep?: (what: string, id: string) => void | Promise<void>;
	/** Null, or absent: it is not traced. */
	readonly traces?: Pick<Traces, "begin"> | null;
	/** Whether it is only looked whether what is asked can be done. */
	readonly isDryRun?: boolean;
	/** Leaves the operation half-way, at a point from which it can be resumed. */
	readonly signal?: AbortSignal;
}

/** A move that this process runs. */
export interface MoveRun {
	readonly options: MoveOptions;
	readonly operation: Operation;
	readonly servers: MoveServers;
	/** As the record has them now. */
	readonly facts: MoveFacts;
	wave(index: number): Wave;
	/** Says that something has happened which the record need not keep. `index`: of its wave; null: it is not about one. */
	happened(event: MoveEvent, index: number | null): Promise<void>;
	/** Saves that something has happened, with what is known of the wave by then, and says so. */
	advance(
		event: MoveEvent,
		index: number | null,
		line: string | null,
		known?: Partial<Wave>,
	): Promise<void>;
	/** What the record says once something has happened, to be written with other things. It is said then. */
	after(
		event: MoveEvent,
		index: number | null,
		known?: Partial<Wave>,
	): Parameters<Operation["save"]>[0];
	say(event: MoveEvent): Promise<void>;
	/** Says in signs of life how far it is, and each new thing that it waits for. */
	report(patch: Partial<MoveProgress>): void;
	/** Does a part of a wave, as a span. */
	part<T>(
		name: string,
		index: number,
		body: () => Promise<T>,
		options?: PartOptions,
	): Promise<T>;
	/** Throws UNAVAILABLE if it was interrupted. */
	requireRunning(): void;
}

/** As `moves show` reads it. */
type MoveProgress = FerryProgress & { wave: number; waitsFor: string | null };

export async function openRun(
	options: MoveOptions,
	operation: Operation,
	trace = new RunTrace(null),
): Promise<MoveRun & AsyncDisposable> {
	const { topology } = await requireCurrent(options.store);
	const facts = moveFactsIn(operation.record);
	const [from, to] = [asNow(facts.from, topology), asNow(facts.to, topology)];
	// The map no longer names a host whose last shards have moved.
	if (from.name !== facts.from.name || to.name !== facts.to.name) {
		await operation.save({ move: { ...facts, from, to } });
	}
	const servers = new MoveServers(
		moveFactsIn(operation.record),
		topology,
		options.environment,
	);
	let report: Partial<MoveProgress> & Pick<MoveProgress, "waitsFor"> = {
		waitsFor: null,
	};
	let said = "";
	const wave = (index: number) => {
		const found = moveFactsIn(operation.record).waves[index];
		if (found !== undefined) return found;
		throw new RangeError(`There is no wave ${index}.`);
	};
	const rowOf = (event: MoveEvent, index: number | null) =>
		transition(
			event,
			operation.record.step,
			index === null ? null : wave(index).state,
		);
	const say = async (event: MoveEvent) => {
		said = "";
		trace.step(event);
		await options.onStep?.(event, operation.record.id);
	};
	const after: MoveRun["after"] = (event, index, known = {}) => {
		const { step, state } = rowOf(event, index);
		return {
			...(step !== undefined && { step }),
			...(index !== null && {
				move: withWave(moveFactsIn(operation.record), index, {
					...known,
					...(state !== undefined && { state }),
				}),
			}),
		};
	};
	return {
		options,
		operation,
		servers,
		wave,
		after,
		say,
		get facts() {
			return moveFactsIn(operation.record);
		},
		async happened(event, index) {
			rowOf(event, index);
			await say(event);
		},
		async advance(event, index, line, known) {
			await operation.save(after(event, index, known), line);
			await say(event);
		},
		report(patch) {
			report = { ...report, ...patch };
			operation.report(JSON.stringify(report));
			const { waitsFor, throttledBy } = report;
			const line =
				waitsFor === null
					? `throttled by ${throttledBy ?? "rate"}`
					: `waits for ${waitsFor}`;
			// Its numbers are others each time.
			const kind = line.replaceAll(/\d+/g, "");
			if (kind === said || kind === "throttled by rate") return;
			said = kind;
			void options.onStep?.(line, operation.record.id);
		},
		part(name, index, body, partOptions) {
			const { list, waves } = moveFactsIn(operation.record);
			const attributes = {
				"corkboard.move.wave": index + 1,
				"corkboard.move.shards": `${list} ${waves[index]?.range.join("-")}`,
			};
			return trace.part(name, attributes, body, partOptions);
		},
		requireRunning: () => requireRunning(options, operation.record.id),
		[Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
	};
}

/** Throws UNAVAILABLE if it was interrupted. */
export function requireRunning({ signal }: MoveOptions, id: string): void {
	if (!signal?.aborted) return;
	throw new CorkboardError(
		"UNAVAILABLE",
		`Interrupted. Nothing of ${id} is lost.`,
	);
}

/** The name of the ferry that moves a wave for the nth time. */
export function ferryName(
	run: MoveRun,
	index: number,
	switches: number,
): string {
	return `${run.operation.record.id}/${index}/${switches}`;
}
