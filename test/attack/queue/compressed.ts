/**
 * Preloaded (`--import`) into every process of the attack on the queue: its hours
 * are short, so that rotation gives back partitions within seconds, and workers
 * run the attack's own kind of job. The values are replaced in the source as it
 * is loaded; one that is not found there ends the process.
 */
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

export const HOUR_MS = 6_000;

/** By file: the text of today, and what it is in the attack. Deadlines of statements stay as they are, and every bound on them stays above them. */
const REPLACED: Readonly<
	Record<string, readonly (readonly [text: string, by: string])[]>
> = {
	"queue/bucket.ts": [
		["HOUR_US = 3_600_000_000", `HOUR_US = ${HOUR_MS}_000`],
		["AHEAD_HOURS = 24", "AHEAD_HOURS = 8"],
		["MADE_HOURS = AHEAD_HOURS + 6", "MADE_HOURS = AHEAD_HOURS + 2"],
		["YOUNG_US = 120_000_000", "YOUNG_US = 20_000_000"],
		["OPEN_US = 60_000_000", "OPEN_US = 6_000_000"],
	],
	"queue/claim/dueProbe.ts": [
		["PAST_US = 120_000_000", "PAST_US = 12_000_000"],
	],
	// So that load alone does not refuse each change of a table.
	"queue/mysql/rotation/metadataLocks.ts": [["OLD_MS = 200", "OLD_MS = 800"]],
	// As many hours as pass while a change of the table takes its time.
	"queue/mysql/rotation/rotation.ts": [
		["PARTITIONS_AT_ONCE = 2", "PARTITIONS_AT_ONCE = 6"],
	],
	"queue/mysql/rotation/spans.ts": [
		["PAST_US = 300_000_000", "PAST_US = 14_000_000"],
	],
	"queue/rotation.ts": [
		["ROUND_MS = 180_000", "ROUND_MS = 3_000"],
		["MOST_BETWEEN_MS = 3_600_000", "MOST_BETWEEN_MS = 3_000"],
	],
	"queue/settings.ts": [
		["keepSucceededMs: 24 * HOUR_MS", "keepSucceededMs: 2_000"],
		["keepFailedMs: 7 * DAY_MS", "keepFailedMs: 4_000"],
	],
	"worker/limits.ts": [
		["expireMs: 5_000", "expireMs: 1_000"],
		["expirePastMs: 30_000", "expirePastMs: 3_000"],
		["rotateMs: 30_000", "rotateMs: 2_000"],
	],
};

const ROOT = new URL("../../../src/", import.meta.url).href;
for (const file of Object.keys(REPLACED)) {
	// One that has moved would be loaded as it is, unnoticed.
	if (existsSync(new URL(file, ROOT))) continue;
	throw new Error(`expected src/${file}: test/attack/queue/compressed.ts`);
}

registerHooks({
	load(url, context, next) {
		const replaced = url.startsWith(ROOT)
			? REPLACED[url.slice(ROOT.length)]
			: undefined;
		if (replaced === undefined) return next(url, context);
		let source = readFileSync(fileURLToPath(url), "utf8");
		for (const [text, by] of replaced) {
			if (!source.includes(text)) {
				throw new Error(
					`expected ${text} in ${url}: test/attack/queue/compressed.ts`,
				);
			}
			source = source.replace(text, by);
		}
		return { format: "module-typescript", source, shortCircuit: true };
	},
});

// After the hooks, which statically imported files would precede.
const { trial, watchProcess } = await import("./trialJobs.ts");
const { jobs } = await import("../../../pins/jobs.ts");
(jobs as unknown[]).push(trial);
if (isMainThread) await watchProcess();
