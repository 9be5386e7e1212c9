import { CorkboardError } from "../../errors.ts";
import { shiftPosition } from "../../storage/renumbering.ts";
import type { KeyResult, Position, Renumbering } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { ReadStore } from "../store/store.ts";
import {
	type EpochPosition,
	type EpochScan,
	isOfEpoch,
	type ScannedEdges,
	scanLists,
} from "./scanLists.ts";

interface Bounds {
	readonly after?: EpochPosition | undefined;
	readonly before?: EpochPosition | undefined;
}

/** Edges, and the bounds of their scan, all of the epoch of `list`. */
export type EpochScanResult = ScannedEdges & Bounds;

/** A list would have to be renumbered between each two of that many scans. */
const MAX_SCANS = 6;

/**
 * Scans lists, so that bounds and edges are of one epoch: a sequence means
 * something in its own epoch only (docs/consistency.md, "5. Pages"). If the
 * scan finds another epoch than that of a bound, the renumberings between the
 * two say where the bound is now, and the list is scanned again. Nothing
 * else of the program may compare positions of different reads.
 *
 * If all epochs agree, this is one call of `scanLists`.
 */
export function scanInOneEpoch(
	store: ReadStore,
	scans: readonly EpochScan[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<EpochScanResult>[]> {
	return andThen(scanLists(store, scans, call), (scanned) => {
		const isOutdated = scanned.some(
			(result, at) =>
				!(result instanceof CorkboardError) &&
				!isOfEpoch(scans[at] as EpochScan, result.list.epoch),
		);
		if (isOutdated) return scanAgain(store, scans, scanned, call);
		return scanned.map((result, at) =>
			result instanceof CorkboardError
				? result
				: withBounds(result, scans[at] as EpochScan),
		);
	});
}

function withBounds(
	result: ScannedEdges,
	{ after, before }: EpochScan,
): EpochScanResult {
	return { ...result, after, before };
}

async function scanAgain(
	store: ReadStore,
	scans: readonly EpochScan[],
	first: readonly KeyResult<ScannedEdges>[],
	call: CallOptions | undefined,
): Promise<readonly KeyResult<EpochScanResult>[]> {
	const results = new Array<KeyResult<EpochScanResult>>(scans.length);
	let pending = [...scans.entries()];
	let scanned = first;
	for (let done = 1; ; done++) {
		const outdated: OutdatedScan[] = [];
		for (const [at, [index, scan]] of pending.entries()) {
			const result = scanned[at] as KeyResult<ScannedEdges>;
			if (result instanceof CorkboardError) results[index] = result;
			else if (isOfEpoch(scan, result.list.epoch)) {
				results[index] = withBounds(result, scan);
			} else if (done === MAX_SCANS) {
				results[index] = new CorkboardError(
					"UNAVAILABLE",
					"The list is being renumbered. Try again.",
				);
			} else outdated.push({ index, scan, epoch: result.list.epoch });
		}
		pending = [];
		if (outdated.length === 0) return results;
		const relocated = await relocate(store, outdated, call);
		for (const [at, { index }] of outdated.entries()) {
			const scan = relocated[at] as KeyResult<EpochScan>;
			if (scan instanceof CorkboardError) results[index] = scan;
			else pending.push([index, scan]);
		}
		if (pending.length === 0) return results;
		scanned = await scanLists(
			store,
			pending.map(([, scan]) => scan),
			call,
		);
	}
}

interface OutdatedScan {
	readonly index: number;
	readonly scan: EpochScan;
	/** The list's epoch, at least. */
	readonly epoch: number;
}

/** The scans with their bounds as they are in the lists' present epochs. */
async function relocate(
	{ storage }: ReadStore,
	scans: readonly OutdatedScan[],
	call: CallOptions | undefined,
): Promise<readonly KeyResult<EpochScan>[]> {
	const read = await storage.read(
		"renumberings",
		scans.map(({ scan: { mapping, from, after, before }, epoch }) => ({
			mapping,
			from,
			since: Math.min(epoch, ...epochsOf({ after, before })),
		})),
		call,
	);
	return scans.map(({ scan, epoch }, at): KeyResult<EpochScan> => {
		const renumberings = read[at] as KeyResult<readonly Renumbering[]>;
		if (renumberings instanceof CorkboardError) return renumberings;
		// A list older than the position, such as one restored from a backup.
		if (Math.max(...epochsOf(scan)) > epoch) return cannotRelocate();
		// There may be later ones than the scan has seen.
		const now = Math.max(epoch, renumberings.at(-1)?.epoch ?? epoch);
		const { after, before, ...rest } = scan;
		const bounds: { after?: EpochPosition; before?: EpochPosition } = {};
		for (const [name, bound] of Object.entries({ after, before })) {
			if (bound === undefined) continue;
			const relocated = relocateTo(now, bound, renumberings);
			if (relocated === null) return cannotRelocate();
			bounds[name as "after" | "before"] = relocated;
		}
		return { ...rest, ...bounds };
	});
}

function epochsOf({ after, before }: Bounds): readonly number[] {
	return [after, before].flatMap((bound) => bound?.epoch ?? []);
}

/** Null if a renumbering in between is not stored any more. */
function relocateTo(
	epoch: number,
	position: EpochPosition,
	renumberings: readonly Renumbering[],
): EpochPosition | null {
	const since = renumberings.filter((one) => one.epoch > position.epoch);
	if (since.length !== epoch - position.epoch) return null;
	const { sequence, to } = since.reduce<Position>(shiftPosition, position);
	return { sequence, to, epoch };
}

function cannotRelocate(): CorkboardError {
	return new CorkboardError(
		"BAD_USER_INPUT",
		"The cursor is of another state of the list: the list was renumbered too often since, or restored from a backup. Start again without a cursor.",
	);
}
