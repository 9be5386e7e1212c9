import type { Corkboard } from "../../app/openCorkboard.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import { enqueueRecount, enqueueVerify } from "../../ops/jobs/enqueueChecks.ts";
import { recount } from "../../ops/jobs/recount.ts";
import { verifyShards } from "../../ops/jobs/verifyShards.ts";
import type { DamageSummary } from "../../ops/verify/damage.ts";
import { lacksTable } from "../../ops/verify/unchecked.ts";
import {
	type VerifyProgress,
	type VerifyReport,
	verify,
} from "../../ops/verify/verify.ts";
import type { ShardsToCheck } from "../../ops/verify/walkGraph.ts";
import type { StorageMap } from "../../storage/storage.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import { command, flag, option, type Result } from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";
import { SHARD_RANGES } from "../values.ts";

/** For a run that found no damage, but could not read everything. */
const INCOMPLETE = 3;

export const { usage, run } = command({
	summary:
		"Checks that objects, edges, inverse edges, counts and lookups agree.",
	options: {
		repair: flag("repair the damage that is found"),
		jobs: flag(
			"enqueue jobs that do this, each for some shards, instead of doing it; workers run them",
		),
		counts: flag(
			"with --jobs: only count lists again, and repair counts that are wrong",
		),
		shards: option(
			SHARD_RANGES,
			"check only the rows of these shards, such as 0-255,512, against those of any",
		),
		modShards: option(
			SHARD_RANGES,
			"check only the lookups of these mod shards",
		),
	},
	details:
		"Without --repair nothing is changed. Pending outbox entries are no damage.",
	exitCodes: {
		0: "everything agrees, also if only after the repair",
		1: "damage, or an error",
		3: "no damage was found, but not everything could be checked",
		...INTERRUPTED,
	},
	async run({ repair, jobs, counts, shards, modShards }, context) {
		const config = readConfig(context.env);
		if (counts && !jobs) throw new UsageError("--counts needs --jobs.");
		const isPart = shards !== undefined || modShards !== undefined;
		if (isPart && jobs) {
			throw new UsageError("--shards and --mod-shards do not go with --jobs.");
		}
		const signal = context.interruptSignal();
		await using corkboard = await openForCommand(
			context,
			config,
			repair || jobs ? "readWrite" : "readOnly",
		);
		if (jobs) return enqueue(corkboard, { repair, counts });
		const progress = createProgressLine(context);
		// With one of the options only what it names.
		const only = { shards: shards ?? [], modShards: modShards ?? [] };
		const report = await verify(corkboard.store, {
			repair,
			...(isPart && { only: checkedShards(only, corkboard.storage.map) }),
			types: createStoredTypes(corkboard.schema),
			signal,
			onProgress: (now) => progress.update(describeProgress(now)),
		});
		progress.end();
		const result = { value: report, lines: summary(report, repair) };
		if (report.status === "aborted") {
			const notes = ["interrupted before the end"];
			return { ...result, notes, code: codeOfInterrupt(signal) };
		}
		const { remaining, unchecked } = report;
		const code =
			remaining.length > 0 ? 1 : unchecked.length > 0 ? INCOMPLETE : 0;
		return { ...result, code };
	},
});

function checkedShards(
	only: ShardsToCheck,
	map: Pick<StorageMap, "shards" | "modShards">,
): ShardsToCheck {
	const known = new Set(map.shards);
	const missing = only.shards.find((shard) => !known.has(shard));
	if (missing !== undefined) {
		throw new UsageError(`The topology has no shard ${missing}.`);
	}
	const modShard = only.modShards.find((each) => each >= map.modShards);
	if (modShard !== undefined) {
		throw new UsageError(`The topology has no mod shard ${modShard}.`);
	}
	return only;
}

async function enqueue(
	{ storage, queues }: Corkboard,
	{ repair, counts }: { readonly repair: boolean; readonly counts: boolean },
): Promise<Result> {
	if (queues === null) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"The topology has no queues, so there are no jobs. Give it `queues` and run init, or leave out --jobs.",
		);
	}
	const count = counts
		? await enqueueRecount(storage.map, queues.jobs)
		: await enqueueVerify(storage.map, queues.jobs, repair);
	const queue = counts ? recount.queue : verifyShards.queue;
	return {
		value: { queue, jobs: count },
		lines: [
			`enqueued ${count} jobs of ${queue}: jobs list ${queue} shows them, and what they found`,
		],
	};
}

function describeProgress({
	objects,
	edges,
	lists,
	lookups,
	suspects,
}: VerifyProgress): string {
	const rows = `${formatNumber(objects + edges + lists + lookups)} rows checked`;
	return suspects === 0
		? rows
		: `${rows}, looking at ${formatNumber(suspects)} of them again`;
}

function summary(report: VerifyReport, repair: boolean): readonly string[] {
	const { checked, unchecked, changing, pendingEntries } = report;
	const lines = compact([
		`${formatNumber(checked.objects)} objects, ${formatNumber(checked.edges)} edges, ${formatNumber(checked.lists)} lists, ${formatNumber(checked.lookups)} lookups checked`,
		pendingEntries > 0 &&
			`${formatNumber(pendingEntries)} pending outbox entries`,
		changing > 0 &&
			`${formatNumber(changing)} rows changed in every look: run verify again to check them`,
		...outcome(report, repair),
	]);
	if (unchecked.length === 0) return lines;
	return [
		...lines,
		"not checked:",
		...unchecked
			.slice(0, MAX_UNCHECKED)
			.map(({ place, reason }) => `  ${place}: ${reason}`),
		...compact([
			unchecked.length > MAX_UNCHECKED &&
				`  and ${formatNumber(unchecked.length - MAX_UNCHECKED)} more, which --json names`,
			unchecked.some(lacksTable) &&
				"tables of a newer schema are missing until init, or the next start on a data folder, creates them",
		]),
	];
}

/** Most places that are printed. */
const MAX_UNCHECKED = 10;

function outcome(report: VerifyReport, repair: boolean): readonly string[] {
	const { damage, remaining, repaired, failedRepairs, unchecked } = report;
	const agrees =
		unchecked.length === 0 ? "everything agrees" : "what was checked agrees";
	const found = damage.flatMap(describeDamage);
	if (damage.length === 0) return [agrees];
	if (!repair) {
		const canRepair = damage.some(({ repairable }) => repairable > 0);
		return compact([
			...found,
			canRepair && "run verify --repair to repair it",
			...adviceFor(
				damage.filter(({ repairable, count }) => repairable < count),
			),
		]);
	}
	return [
		...found,
		`${formatNumber(repaired)} repaired`,
		...failedRepairs,
		...(remaining.length === 0
			? [`${agrees} now`]
			: [
					"still damaged:",
					...remaining.flatMap(describeDamage),
					...adviceFor(remaining),
				]),
	];
}

/** What `--repair` leaves to the operator. */
function adviceFor(damage: readonly DamageSummary[]): readonly string[] {
	return damage.flatMap(({ meaning, advice }) =>
		advice === null ? [] : [`${meaning}: ${advice}`],
	);
}

function describeDamage({
	meaning,
	count: number,
	examples,
}: DamageSummary): readonly string[] {
	const more = number - examples.length;
	return compact([
		`${formatNumber(number)} ${meaning}`,
		...examples.map(
			({ description, table, row }) => `  ${description} (${table}, ${row})`,
		),
		more > 0 && `  and ${formatNumber(more)} more`,
	]);
}
