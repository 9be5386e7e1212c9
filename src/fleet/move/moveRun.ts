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
} from "../operations/moveFacts.ts";
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
	onStep(what: string): Promise<void>;
	/** Says in signs of life how far it is, and whoever began it each new thing that it waits for. */
	report(patch: Partial<Standing>): void;
	/** Does a part of a wave, as a span. */
	part<T>(
		name: string,
		index: number,
		body: () => Promise<T>,
		options?: PartOptions,
	): Promise<T>;
	/** Throws UNAVAILABLE where whoever started it has interrupted it. */
	requireRunning(): void;
}

/** As `moves show` reads it. */
type Standing = FerryProgress & { wave: number; waitsFor: string | null };

export async function openRun(
	options: MoveOptions,
	operation: Operation,
	trace = new RunTrace(null),
): Promise<MoveRun & AsyncDisposable> {
	const { topology } = await requireCurrent(options.store);
	const facts = moveFactsIn(operation.record);
	const [from, to] = [asNow(facts.from, topology), asNow(facts.to, topology)];
	// The map may name it no more when its last shards have gone over.
	if (from.name !== facts.from.name || to.name !== facts.to.name) {
		await operation.save({ move: { ...facts, from, to } });
	}
	const servers = new MoveServers(
		moveFactsIn(operation.record),
		topology,
		options.environment,
	);
	let report: Partial<Standing> & Pick<Standing, "waitsFor"> = {
		waitsFor: null,
	};
	let said = "";
	return {
		...{ options, operation, servers },
		get facts() {
			return moveFactsIn(operation.record);
		},
		wave(index) {
			const found = moveFactsIn(operation.record).waves[index];
			if (found !== undefined) return found;
			throw new RangeError(`There is no wave ${index}.`);
		},
		async onStep(what) {
			said = "";
			trace.step(what);
			await options.onStep?.(what, operation.record.id);
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

/** Throws UNAVAILABLE where whoever started it has interrupted it. */
export function requireRunning({ signal }: MoveOptions, id: string): void {
	if (!signal?.aborted) return;
	throw new CorkboardError(
		"UNAVAILABLE",
		`Interrupted. Nothing of ${id} is lost.`,
	);
}

/** The name of the ferry that moves a wave for the nth time. */
export function ferryName(run: MoveRun, index: number, flips: number): string {
	return `${run.operation.record.id}/${index}/${flips}`;
}
