import type { Change } from "../changeTypes.ts";
import type { Position } from "../position.ts";

/** Where changes go. */
export interface ChangeSink extends AsyncDisposable {
	/** Where an earlier run ended; null: nothing was written here yet. */
	readonly begun: Position | null;
	/** Resolves when it has the changes for good; `position` is the one behind them. Throws if it cannot take them, and no other try would change that. */
	take(changes: readonly Change[], position: () => Position): Promise<void>;
}

export interface SinkOptions {
	readonly signal: AbortSignal;
	/** Called with each failure, before it tries again. */
	readonly onFailure: (sink: string, reason: string) => void;
}
