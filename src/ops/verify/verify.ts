import { deliverPending } from "../../graph/outbox/deliverPending.ts";
import { renamePatienceOf } from "../../graph/outbox/outboxWorker.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { type Damage, DamageReport, type DamageSummary } from "./damage.ts";
import { Unchecked, type UncheckedPlace } from "./unchecked.ts";
import {
	type Checked,
	type ShardsToCheck,
	type Walked,
	walkGraph,
} from "./walkGraph.ts";

export interface VerifyOptions {
	/** Repair what can be repaired, then verify again. */
	readonly repair?: boolean;
	/** What stored values are checked against; without it their types are not checked. */
	readonly types?: StoredTypes;
	/** Check the rows of these only. */
	readonly only?: ShardsToCheck;
	readonly signal?: AbortSignal;
	readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress extends Checked {
	/** Rows that disagree and are being looked at again. */
	readonly suspects: number;
}

export interface VerifyReport extends Omit<Walked, "isAborted"> {
	/** Whether all was checked and there is no damage, or none after the repair. Pending outbox entries are no damage. */
	readonly clean: boolean;
	readonly status: "finished" | "aborted";
	/** What did not answer. Its rows were not checked. */
	readonly unchecked: readonly UncheckedPlace[];
	/** The damage before any repair. */
	readonly damage: readonly DamageSummary[];
	readonly repaired: number;
	/** The first few repairs that failed, each as a sentence. */
	readonly failedRepairs: readonly string[];
	/** The damage that remains; without `repair`, all of it. */
	readonly remaining: readonly DamageSummary[];
}

/** A repair may reveal further damage: an object that becomes active is missing from its lists. */
const ROUNDS = 3;
const PROGRESS_MS = 500;
/** Most failed repairs that are reported. */
const MAX_FAILED_REPAIRS = 20;

/**
 * Walks the whole graph and compares everything that is stored twice: edges
 * with their inverse edges, lists with their counts, references with lists,
 * objects with lookups; and everything that is stored with the model. Reads in
 * batches, so that memory stays bounded by the keys of pending outbox entries.
 * It is no snapshot: how it distinguishes damage from a write under way is in
 * docs/consistency.md, "8. Verify".
 */
export async function verify(
	store: Store,
	options: VerifyOptions = {},
): Promise<VerifyReport> {
	const progress: RepairProgress | null =
		options.repair === true ? { repaired: 0, failures: [] } : null;
	if (progress !== null) {
		const writer = new WritePipeline(store);
		await deliverPending(writer, renamePatienceOf(writer));
	}
	const first = await verifyOnce(store, options, progress);
	let last = first;
	for (let round = 0; progress !== null && round < ROUNDS; round++) {
		if (last.damage.length === 0 || last.isAborted) break;
		const isLastRound = round === ROUNDS - 1;
		last = await verifyOnce(store, options, isLastRound ? null : progress);
	}
	const { damage: remaining, unchecked, isAborted } = last;
	return {
		clean: remaining.length === 0 && unchecked.length === 0 && !isAborted,
		status: isAborted ? "aborted" : "finished",
		checked: first.checked,
		unchecked,
		changing: last.changing,
		pendingEntries: last.pendingEntries,
		damage: first.damage,
		repaired: progress?.repaired ?? 0,
		failedRepairs: progress?.failures ?? [],
		remaining,
	};
}

interface RepairProgress {
	repaired: number;
	readonly failures: string[];
}

interface PassResult
	extends Walked,
		Pick<VerifyReport, "damage" | "unchecked"> {}

async function verifyOnce(
	store: Store,
	{ signal, types, only, onProgress }: VerifyOptions,
	repairs: RepairProgress | null,
): Promise<PassResult> {
	const report = new DamageReport();
	const unchecked = new Unchecked();
	let reportedAt = performance.now();
	const walked = await walkGraph(store, {
		types,
		unchecked,
		...(only && { only }),
		...(signal && { signal }),
		async onDamage(damages) {
			for (const damage of damages) {
				report.add(damage);
				if (repairs !== null) await repairDamage(damage, repairs);
			}
		},
		onProgress(progress) {
			if (performance.now() - reportedAt < PROGRESS_MS) return;
			reportedAt = performance.now();
			onProgress?.(progress);
		},
	});
	onProgress?.({ ...walked.checked, suspects: 0 });
	return { ...walked, damage: report.list(), unchecked: unchecked.list() };
}

async function repairDamage(
	{ description, repair }: Damage,
	progress: RepairProgress,
): Promise<void> {
	if (repair === undefined) return;
	try {
		await repair();
		progress.repaired++;
	} catch (thrown) {
		if (progress.failures.length >= MAX_FAILED_REPAIRS) return;
		const reason = reasonOf(thrown);
		progress.failures.push(`${description}: ${reason}`);
	}
}
