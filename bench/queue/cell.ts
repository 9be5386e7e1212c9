import type { LoadName } from "./loads/names.ts";
import type { SystemName } from "./systems.ts";

/** One measurement of one system under one load. */
export interface Cell {
	readonly load: LoadName;
	/** What of the load, such as a size of bodies. */
	readonly variant: string;
	readonly round: number;
	readonly system: SystemName;
	/** By name: per second, milliseconds of CPU per job, bytes per job, counts. */
	readonly values: Readonly<Record<string, number>>;
	/** Why there are no values. */
	readonly error?: string;
	/** The machine's load average when it ended: others may have used it. */
	readonly loadAverage: number;
}
