import { named, publishModel } from "../../app/fleetModel.ts";
import { jobQueuesOf } from "../../app/jobKinds.ts";
import { recreateLostTables } from "../../app/lostTables.ts";
import type { Corkboard } from "../../app/openCorkboard.ts";
import { openTopologyStore } from "../../app/openTopology.ts";
import { type AppModel, lockProblems } from "../../app/readApp.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { openPoolsOf } from "../../feed/pools/openPools.ts";
import { checkTables } from "../../fleet/checkTables.ts";
import { giveGraphId } from "../../ops/graphId.ts";
import {
	createTables,
	lostSentence,
	recordInStore,
} from "../../ops/madeTables.ts";
import { createQueues } from "../../queue/openJobs.ts";
import { NAMED_TABLES } from "../../storage/hostReport.ts";
import { compact } from "../../util/compact.ts";
import { plural } from "../../util/format.ts";
import { command, flag, type Result } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";

export const { usage, run } = command({
	summary:
		"Creates the missing tables, columns and queues of every shard. Existing rows stay.",
	options: {
		check: flag("say what is missing and who lacks it, and create nothing"),
		lost: flag(
			"create lost tables again, empty; their new ids begin where none was given before",
		),
	},
	exitCodes: { 3: "with --check: something is missing" },
	async run({ check: isCheck, lost: isLost }, context) {
		const config = readConfig(context.env);
		if (isCheck) return check(config, context);
		const own = await context.app();
		requireLocked(own);
		const lost = isLost ? await recreateLostTables(own.app, config) : [];
		await using corkboard = await openForCommand(context, config, "readWrite");
		const { shards, modShards } = corkboard.storage.map;
		await createGraphTables(config, corkboard, context);
		await giveGraphId(corkboard.storage);
		const queueShards = await createQueueTables(corkboard);
		const poolShards = await createPoolTables(corkboard);
		await storeModel(own, config);
		// docs/reference/commands-json.md describes this shape: scripts rely on it.
		const made = {
			shards: shards.length,
			modShards,
			queueShards,
			poolShards,
			lost,
		};
		return {
			value: made,
			lines: described(made, config.store.kind === "topology"),
		};
	},
});

/** Tables whose names and numbers the lock file lacks might get others in the next version. Throws BAD_MODEL. */
function requireLocked(own: AppModel): void {
	const problems = lockProblems(own);
	if (problems.length === 0) return;
	throw new CorkboardError("BAD_MODEL", problems.join("\n"));
}

/** Those of the graph. What was made is remembered: nothing lost may be taken for new. */
async function createGraphTables(
	{ store: place }: Config,
	{ admin, storage }: Corkboard,
	context: CommandContext,
): Promise<void> {
	// It was made when the folder was opened.
	if (storage.map.hasSingleWriter || place.kind === "embedded") return;
	await using store = openTopologyStore(place);
	const progress = createProgressLine(context);
	try {
		await createTables(admin, recordInStore(store), {
			mayBeNew: true,
			progress: (done, total) =>
				progress.update(`${done} of ${total} shards and mod shards`),
		});
	} finally {
		progress.end();
	}
}

function described(
	{
		shards,
		modShards,
		queueShards,
		poolShards,
		lost,
	}: {
		readonly shards: number;
		readonly modShards: number;
		readonly queueShards: number;
		readonly poolShards: number;
		readonly lost: readonly string[];
	},
	hasSharedCaches: boolean,
): readonly string[] {
	const verify = "verify, which finds what their rows have left elsewhere";
	const have = (count: number) => (count === 1 ? "has" : "have");
	return compact([
		...(lost.length > 0
			? [
					`made again, empty: ${plural(lost.length, "lost table")}: ${lost.join(", ")}`,
					hasSharedCaches
						? `next: raise the generation of their shards, because caches have lost objects still (docs/how-to/recovery.md, A lost table); then ${verify}`
						: `next: ${verify}`,
				]
			: []),
		`${shards} shards and ${modShards} mod shards have all their tables`,
		queueShards > 0 &&
			`${plural(queueShards, "queue shard")} ${have(queueShards)} all queues`,
		poolShards > 0 &&
			`${plural(poolShards, "pool shard")} ${have(poolShards)} all tables`,
	]);
}

/** Last, so that no server takes tables for made that are not. */
async function storeModel(
	own: AppModel,
	{ store: place }: Config,
): Promise<void> {
	if (place.kind === "embedded") return;
	await using store = openTopologyStore(place);
	// Beside a file that this process may only read, nobody stores anything.
	if (!store.hasMembers) return;
	await publishModel(own, store);
}

async function check(config: Config, context: CommandContext): Promise<Result> {
	const checked = await checkTables(await context.app(), config, context.open);
	const { additions, missing, lost, unknown, others, shards, modShards } =
		checked;
	const lines = compact([
		additions.length > 0 && `the schema adds: ${named(additions)}`,
		unknown.length > 0 &&
			`the fleet has, and this program does not know: ${named(unknown)}`,
		missing.length > 0
			? `missing: ${plural(missing.length, "table or column", "tables and columns")}: ${missing.slice(0, NAMED_TABLES).join(", ")}${missing.length > NAMED_TABLES ? ", …" : ""}`
			: `nothing is missing: ${plural(shards, "shard")} and ${plural(modShards, "mod shard")} have all their tables`,
		others.length > 0 &&
			`processes with another model: ${others.join(", ")}; they go on`,
		lost.length > 0 && lostSentence(lost, missing),
		missing.length > lost.length &&
			"next: init, which changes nothing that is there; then the servers",
	]);
	// docs/reference/commands-json.md describes this shape: scripts rely on it.
	return { value: checked, lines, code: missing.length > 0 ? 3 : 0 };
}

/** Creates the tables of pools that the topology names, whether the home feed is on or not. Returns of how many shards. */
async function createPoolTables({
	feedModel,
	topology,
}: Pick<Corkboard, "feedModel" | "topology">): Promise<number> {
	if (feedModel === null || topology.pools === undefined) return 0;
	await using pools = openPoolsOf(topology.pools);
	await pools.createTables();
	return pools.shards.length;
}

/** Returns of how many shards. */
async function createQueueTables({
	app,
	queues,
}: Pick<Corkboard, "app" | "queues">): Promise<number> {
	if (queues === null) return 0;
	const { store } = queues;
	await store.createTables();
	await createQueues(store, jobQueuesOf(app));
	return store.shards.length;
}
