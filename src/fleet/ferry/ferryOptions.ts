import type { Pace } from "../../util/pace.ts";
import type { FleetServer } from "../server/fleetServer.ts";

export interface FerryOptions {
	/** Unique by operation, wave and direction. */
	readonly name: string;
	/** The primary that has the rows, and whose binary log is followed. */
	readonly source: FleetServer;
	/** What the rows are copied from; null: the primary. */
	readonly replica: FleetServer | null;
	readonly target: FleetServer;
	readonly targetReplica: FleetServer | null;
	readonly databases: readonly {
		readonly source: string;
		readonly target: string;
	}[];
	/** A set of GTIDs of the source at which the target's rows are those of the source, so that none is copied: the way back. Null: all are copied. */
	readonly from: string | null;
	readonly pace: Pace;
	/** Tables that are copied, or compared, at once. */
	readonly parallel: number;
	readonly signal: AbortSignal;
	readonly limits?: Partial<FerryLimits>;
}

export interface FerryLimits {
	/** How long the target may be away. */
	readonly outageMs: number;
	/** To catch up with the source after the copy. */
	readonly catchUpMs: number;
	/** Rows that wait to be compared again. Beyond it their table is compared anew. */
	readonly touchedKeys: number;
	/** A row is compared again when it has not changed for so long. */
	readonly quietMs: number;
}

export interface FerryProgress {
	readonly step: "idle" | "copy" | "stream" | "verify";
	readonly tables: { readonly copied: number; readonly total: number };
	/** The total is an estimate. */
	readonly rows: {
		readonly copied: number;
		readonly total: number;
		readonly perSecond: number;
	};
	/** How far the target is behind the source; null: nobody looks. */
	readonly lagMs: number | null;
	/** Up to where the source's log is applied: a set of GTIDs. */
	readonly applied: string;
	readonly streamed: { readonly transactions: number; readonly rows: number };
	readonly verified: {
		readonly tables: number;
		readonly total: number;
		readonly rows: number;
	};
	/** Rows that changed since they were compared. */
	readonly pendingKeys: number;
	readonly differences: number;
	/** How long the step will take; null: it cannot be said. */
	readonly secondsLeft: number | null;
	/** See `Pace.reason`. */
	readonly throttledBy: string | null;
	readonly throttledShare: number;
}

export const FERRY_LIMITS: FerryLimits = {
	outageMs: 60_000,
	catchUpMs: 86_400_000,
	touchedKeys: 1_000_000,
	quietMs: 1_000,
};
