import { deliverEntries } from "../../graph/outbox/deliver.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import { unpackId } from "../../id/ids.ts";
import {
	type VerifyOptions,
	type VerifyReport,
	verify,
} from "../../ops/verify/verify.ts";
import type { Environment } from "../../topology/secret.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { FleetServer } from "../server/fleetServer.ts";
import type { Conflict, Outcome } from "./conflicts.ts";
import type { SalvageSource } from "./findSalvage.ts";
import { type LostEntry, LostRows } from "./lostRows.ts";
import { salvageEdges } from "./salvageEdges.ts";
import { reserveKeysOf, salvageLookups } from "./salvageLookups.ts";
import { type SalvageOptions, salvageObjects } from "./salvageObjects.ts";

/** Entries that are delivered at once. */
const ENTRIES = 200;
/** Most failures that are reported. */
const MOST_FAILURES = 20;

interface SalvageRun extends SalvageOptions {
	readonly environment: Environment;
	/** What the shards are verified with afterwards; null: they are not. */
	readonly verifying: VerifyOptions | null;
	readonly onStep?: (what: string) => void;
}

export interface SalvageReport {
	/** Transactions that were read, and when the first and the last were committed: ISO 8601, in UTC. */
	readonly transactions: number;
	readonly from: string | null;
	readonly until: string | null;
	readonly objects: Outcome;
	readonly edges: Outcome;
	readonly lookups: Outcome;
	readonly entries: {
		readonly lost: number;
		readonly delivered: number;
		/** Why the others were not, the first of them. */
		readonly failures: readonly string[];
	};
	/** Rows whose text cannot be read, as `db00003.pins 17`. */
	readonly unreadable: readonly string[];
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
	/** Null: they were not verified. */
	readonly verified: VerifyReport | null;
}

/**
 * Brings back what an old primary committed and its successor never had
 * (docs/how-to/recovery.md, "When the old primary is back"), in the order in which
 * a write comes to be seen: objects, their keys, edges, then outbox entries. Each
 * step decides on what it finds and is a write like any other, so that it may be
 * interrupted and run again: what is there stays as it is.
 */
export async function salvage(
	run: SalvageRun,
	source: SalvageSource,
): Promise<SalvageReport> {
	const { store, signal, isDryRun, onStep } = run;
	const lost = await readLost(run, source);
	onStep?.("read");
	const objects = await salvageObjects(run, [...lost.objects.values()]);
	onStep?.("objects");
	const ofRows = await salvageLookups(run, [...lost.lookups.values()]);
	const ofObjects = isDryRun
		? []
		: await reserveKeysOf(run, [...lost.objects.values()]);
	const lookups = {
		...ofRows,
		conflicts: distinct([...ofRows.conflicts, ...ofObjects]),
	};
	onStep?.("lookups");
	const edges = await salvageEdges(
		run,
		[...lost.edges.values()],
		objects.inserted,
	);
	onStep?.("edges");
	const entries = [...lost.entries.values()];
	const failures = isDryRun ? [] : await deliver(store, entries, signal);
	onStep?.("entries");
	const shards = [
		...new Set([
			...lost.shards,
			...[...lost.edges.values()].map(({ from }) => unpackId(from).shard),
		]),
	].sort((a, b) => a - b);
	const modShards = [...lost.modShards].sort((a, b) => a - b);
	const isChecked = !isDryRun && run.verifying !== null;
	return {
		transactions: lost.transactions,
		from: timeOf(lost.from),
		until: timeOf(lost.until),
		objects,
		edges,
		lookups,
		entries: {
			lost: entries.length,
			delivered: isDryRun ? 0 : entries.length - failures.length,
			failures: failures.slice(0, MOST_FAILURES),
		},
		unreadable: lost.unreadable,
		shards,
		modShards,
		verified:
			isChecked && shards.length + modShards.length > 0
				? await verify(store, {
						...run.verifying,
						signal,
						repair: true,
						only: { shards, modShards },
					})
				: null,
	};
}

async function readLost(
	{ store, environment, signal }: SalvageRun,
	{ url, tables, known, executed, missing }: SalvageSource,
): Promise<LostRows> {
	const lost = new LostRows(store.model);
	if (missing === "") return lost;
	await using old = new FleetServer(url, environment);
	// Tables do not change in a failover; an old statement that made one is no change of rows.
	const reading = old.readBinlog({
		after: known,
		until: executed,
		tables,
		signal,
		ignoresDdl: true,
	});
	for await (const transactions of reading) {
		for (const transaction of transactions) lost.add(transaction);
	}
	return lost;
}

/** Returns why entries could not be delivered. Each is deleted nowhere: its row is the old primary's. */
async function deliver(
	store: Store,
	entries: readonly LostEntry[],
	signal: AbortSignal,
): Promise<readonly string[]> {
	const failed: string[] = [];
	const writer = new WritePipeline(store);
	for (let first = 0; first < entries.length; first += ENTRIES) {
		signal.throwIfAborted();
		const some = entries.slice(first, first + ENTRIES);
		const { failures } = await deliverEntries(writer, some);
		for (const [{ shard, local }, error] of failures) {
			failed.push(`entry ${local} of shard ${shard}: ${reasonOf(error)}`);
		}
	}
	return failed;
}

/** The same key may be lost as a row and taken from its object. */
function distinct(conflicts: readonly Conflict[]): readonly Conflict[] {
	const named = new Map(
		conflicts.map((conflict) => [
			conflict.kind === "lookup" ? `${conflict.name} ${conflict.key}` : "",
			conflict,
		]),
	);
	return [...named.values()];
}

function timeOf(ms: number | null): string | null {
	return ms === null ? null : new Date(ms).toISOString();
}
