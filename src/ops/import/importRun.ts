import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import type { Store } from "../../graph/store/store.ts";
import type { WritePipeline } from "../../graph/write/pipeline.ts";
import type { OutboxKey } from "../../storage/storage.ts";
import type { ImportLease } from "./importLease.ts";
import type { Numbering } from "./numbering.ts";

/** What all batches of an import share. */
export interface ImportRun {
	readonly store: Store;
	readonly pipeline: WritePipeline;
	readonly numbering: Numbering;
	readonly strict: boolean;
	readonly lease: Pick<ImportLease, "assertNotExpired">;
}

/** The outbox entries of a batch, written by its transactions, and the edge updates in them. Delivered at the end of the batch. */
export interface BatchOutbox {
	readonly entries: OutboxKey[];
	readonly edges: EdgeUpdate[];
}
