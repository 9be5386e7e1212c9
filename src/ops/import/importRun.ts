import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import type { Store } from "../../graph/store/store.ts";
import type { WritePipeline } from "../../graph/write/pipeline.ts";
import type { OutboxKey } from "../../storage/rows.ts";
import type { ImportLease } from "./importLease.ts";
import type { Numbering } from "./numbering.ts";

/** What all batches of an import share. */
export interface ImportRun {
	readonly store: Store;
	readonly pipeline: WritePipeline;
	readonly numbering: Numbering;
	readonly strict: boolean;
	/** See `ImportOptions`. */
	readonly movesEdges: boolean;
	readonly revives: boolean;
	readonly lease: Pick<ImportLease, "assertHeld" | "assertNotExpired">;
}

/** An outbox entry of a batch, written by one of its transactions and delivered at the end of the batch. */
export interface BatchEntry {
	readonly row: OutboxKey;
	/** The edge updates in it, without those of rejected objects. */
	readonly edges: readonly EdgeUpdate[];
	/** Whether all shared caches acknowledged what the transactions changed. If not, the entry stays pending. */
	readonly isAcknowledged: boolean;
}
