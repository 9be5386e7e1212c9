import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { loadValue } from "../../app/findApp.ts";
import type { Corkboard } from "../../app/openCorkboard.ts";
import type { AccessMode } from "../../app/openStore.ts";
import { readConfiguredTopology } from "../../app/openTopology.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { SECRET_BYTES, type Secrets } from "../../config/secrets.ts";
import { CorkboardError } from "../../errors.ts";
import { poolShardOf } from "../../feed/pools/pools.ts";
import { isActive } from "../../graph/read/visibilityPolicy.ts";
import { readDecisive } from "../../graph/store/readUncached.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import { listObjects } from "../../ops/listObjects.ts";
import { IMPORT_LOOKUP } from "../../ops/lookups.ts";
import { type Rewrite, rewriteObjects } from "../../ops/rewriteObjects.ts";
import { parseJobId } from "../../queue/jobId.ts";
import { databaseOfShard, FEED_SHARDS } from "../../storage/feedShards.ts";
import { databaseOf } from "../../storage/mysql/ddl.ts";
import { hostInRanges, hostOf, poolsOf } from "../../topology/ranges.ts";
import type { Topology } from "../../topology/types.ts";
import { formatNumber } from "../../util/format.ts";
import {
	codeOfInterrupt,
	columns,
	INTERRUPTED,
	UsageError,
} from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	option,
	type Result,
	YES,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { isConfirmed } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";
import { explainJobId } from "../queue/explainJobId.ts";
import { integer, SHARD_RANGES } from "../values.ts";

const show = command({
	summary:
		"Prints the type, shard, table and host of an id, and whether its object exists.",
	arguments: { id: argument("ID") },
	details:
		"An id names its shard and type, so they are printed even if the shard cannot be read. Then the reason is printed too. The id of a job names its queue, shard and time: jobs show prints the job itself. An id may also be the key with which an import or a migration made the object, if it has a colon: TYPE:8123.",
	async run({ id }, context) {
		if (id.includes(":")) return explainId(await idOfKey(id, context), context);
		const job = parseJobId(id);
		return job === null ? explainId(id, context) : explainJobId(job, context);
	},
});

/** The id of the object that an import made with this key. */
async function idOfKey(key: string, context: CommandContext): Promise<Id> {
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readOnly",
	);
	const [row = null] = await readDecisive(corkboard.storage, "lookups", [
		{ name: IMPORT_LOOKUP, key },
	]);
	if (row !== null) return row.id;
	throw new CorkboardError(
		"NOT_FOUND",
		`No object was imported with the key ${JSON.stringify(key)}.`,
	);
}

async function explainId(
	given: string,
	context: CommandContext,
): Promise<Result> {
	const id = parseId(given);
	if (id === "malformed") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`ID must be a decimal number of at most 64 bits without leading zeros, or the id of a job, got ${JSON.stringify(given)}.`,
		);
	}
	if (id === "reserved") {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`${given} is not an id: its two top bits must be zero.`,
		);
	}
	const { shard, type, local } = unpackId(id);
	const { model, feedModel } = await context.app();
	const object = model.objectsByNumber.get(type) ?? null;
	const config = readConfig(context.env, { secret: "unneeded" });
	const topology = await readConfiguredTopology(config);
	const host = hostOf(topology, shard);
	const table = object && `${databaseOfShard(shard)}.${object.table}`;
	const ownsFeed = feedModel?.user === object?.name;
	const { feedLists, pool } =
		object !== null && ownsFeed ? placesOfFeed(id, topology) : NO_PLACES;
	const found =
		object === null || host === null
			? { state: "missing" as const, reason: null }
			: await findObject(id, config, context.open);
	const described = {
		id,
		shard,
		type: { number: type, name: object?.name ?? null },
		localId: local,
		table,
		host,
		feedLists,
		pool,
		object: found,
	};
	const rows: (readonly [string, string])[] = [
		["id", id],
		["shard", String(shard)],
		["type", `${type} (${object?.name ?? "not a type of the schema"})`],
		["local id", String(local)],
		["table", table ?? "none"],
		["host", host ?? `none: no range of the topology covers shard ${shard}`],
		...placeRow("feed lists", feedLists),
		...placeRow("pool", pool),
		[
			"object",
			found.reason === null ? found.state : `${found.state}: ${found.reason}`,
		],
	];
	return {
		value: described,
		lines: columns(rows).map((line) => line.trimStart()),
	};
}

/** A database beside that of the object, and its host without its password. */
interface DatabaseLocation {
	readonly database: string;
	readonly host: string;
}

interface PlacesOfFeed {
	/** Null if the lists are with the object. */
	readonly feedLists: DatabaseLocation | null;
	/** Null if there are no pools. */
	readonly pool: DatabaseLocation | null;
}

const NO_PLACES: PlacesOfFeed = { feedLists: null, pool: null };

/** Where the home feed of a user is, and what waits for it. */
function placesOfFeed(user: Id, topology: Topology): PlacesOfFeed {
	const { shard } = unpackId(user);
	const pools = poolsOf(topology);
	const count = pools.reduce(
		(sum, { range: [first, last] }) => sum + last - first + 1,
		0,
	);
	const poolShard = count === 0 ? 0 : poolShardOf(user, count);
	return {
		feedLists: placeOn(
			databaseOfShard(shard + FEED_SHARDS),
			hostInRanges(topology.feeds ?? [], shard),
		),
		pool: placeOn(
			databaseOf("pool", poolShard),
			hostInRanges(pools, poolShard),
		),
	};
}

function placeOn(
	database: string,
	host: string | null,
): DatabaseLocation | null {
	return host === null ? null : { database, host };
}

function placeRow(
	name: string,
	place: DatabaseLocation | null,
): readonly (readonly [string, string])[] {
	return place === null ? [] : [[name, `${place.database} on ${place.host}`]];
}

interface FoundObject {
	/**
	 * - `active`: it is there.
	 * - `inactive`: its row is there, but it is deleted, or not yet created.
	 * - `missing`: there is no row.
	 * - `unknown`: its shard could not be read, because of `reason`.
	 */
	readonly state: "active" | "inactive" | "missing" | "unknown";
	readonly reason: string | null;
}

/** Whether there is an object with this id, hidden or not. It is read from its shard, past every cache. */
async function findObject(
	id: Id,
	config: Config,
	open: (config: Config, access: AccessMode) => Promise<Corkboard>,
): Promise<FoundObject> {
	// No token is signed, so that any secret will do.
	const secrets: Secrets = config.secrets ?? [randomBytes(SECRET_BYTES)];
	try {
		await using corkboard = await open(
			{ ...config, secrets, memcached: [], redis: null },
			"readOnly",
		);
		const [object] = await corkboard.store.readObjects([id]);
		if (object instanceof Error) throw object;
		const node = object?.node ?? null;
		if (node === null) return { state: "missing", reason: null };
		return { state: isActive(node) ? "active" : "inactive", reason: null };
	} catch (error) {
		if (!(error instanceof CorkboardError)) throw error;
		return { state: "unknown", reason: error.message };
	}
}

const DEFAULT = 100;

const list = command({
	summary:
		"Prints the objects of a list of the whole graph, such as reports, as lines of JSON.",
	arguments: { field: argument("FIELD") },
	options: {
		limit: option(
			integer(1, 9_999_999),
			`how many from the start (default ${DEFAULT})`,
			DEFAULT,
		),
	},
	exitCodes: { 1: "objects that could not be read, or an error" },
	details:
		"FIELD is the field of Query that reads the list; it may be an internal one. Everything that is stored is printed, regardless of who may see it. Stop the server of an embedded data folder first.",
	hasJson: false,
	async run({ field, limit }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		let unread = 0;
		for await (const object of listObjects(corkboard.store, field, limit)) {
			if (object instanceof CorkboardError) {
				unread++;
				context.stderr(`corkboard: ${object.message}`);
			} else {
				context.stdout(JSON.stringify(object));
			}
		}
		return unread > 0 ? 1 : 0;
	},
});

const rewrite = command({
	summary:
		"Changes the content of all objects of a type, beside a running fleet.",
	arguments: { file: argument("FILE") },
	options: {
		rate: option(
			integer(1, 10_000_000, "OBJECTS"),
			"change at most so many objects a second (default: as many as can be written)",
		),
		shards: option(SHARD_RANGES, "only these shards, such as 0-255,512"),
		dryRun: DRY_RUN_FLAG,
		yes: YES,
	},
	details:
		"FILE is a module that exports { type, change(data) }. change returns the new content by stored keys, or null if the object needs no change. Each object is changed under its lock, with its lists and natural keys, as by a mutation. If a run was ended, run it again: objects that need no change any more are only read. Stop the server of an embedded data folder first.",
	exitCodes: {
		1: "not confirmed, objects that could not be changed or read, or an error",
		...INTERRUPTED,
	},
	async run({ file, rate, shards, dryRun, yes }, context) {
		const given = await readRewrite(file);
		const question = `This changes the content of all objects of ${given.type} for which ${file} returns another one. --dry-run counts them.`;
		if (!dryRun && !(await isConfirmed(context, { yes }, question))) return 1;
		const signal = context.interruptSignal();
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			dryRun ? "readOnly" : "readWrite",
		);
		const progress = createProgressLine(context);
		const done = await rewriteObjects(corkboard.store, given, {
			...(shards && { shards: requireShards(shards, corkboard) }),
			rate: rate ?? null,
			isDryRun: dryRun,
			signal,
			onProgress: ({ objects, changed }) =>
				progress.update(
					`${formatNumber(objects)} objects read, ${formatNumber(changed)} ${dryRun ? "would be " : ""}changed`,
				),
			onFailure: (id, error) =>
				context.stderr(`corkboard: ${id}: ${error.message}`),
		}).finally(() => progress.end());
		const { objects, changed, failed, unread, interruptedAt } = done;
		const isInterrupted = interruptedAt !== null;
		return {
			value: { type: given.type, dryRun, ...done },
			lines: [
				`${formatNumber(objects)} objects of ${given.type} read, ${formatNumber(changed)} ${dryRun ? "would be " : ""}changed`,
				...(failed > 0
					? [`${formatNumber(failed)} could not be changed: run it again`]
					: []),
				...unread.map(({ place, reason }) => `not read: ${place}: ${reason}`),
			],
			notes: isInterrupted
				? [
						`interrupted in shard ${interruptedAt}: run it again, or continue with --shards ${interruptedAt}-${corkboard.storage.map.shards.at(-1)}`,
					]
				: [],
			code: isInterrupted
				? codeOfInterrupt(signal)
				: failed > 0 || unread.length > 0
					? 1
					: 0,
		};
	},
});

/** The default export of a module. Throws BAD_USER_INPUT. */
async function readRewrite(file: string): Promise<Rewrite> {
	const path = resolve(file);
	const found = existsSync(path) ? await loadValue(path) : null;
	if (
		typeof found === "object" &&
		found !== null &&
		"type" in found &&
		typeof found.type === "string" &&
		"change" in found &&
		typeof found.change === "function"
	) {
		return found as unknown as Rewrite;
	}
	throw new CorkboardError(
		"BAD_USER_INPUT",
		found === null
			? `There is no file ${path}.`
			: `${path} exports no change: write export default { type: "Note", change(data) { return null; } }.`,
	);
}

function requireShards(
	shards: readonly number[],
	{ storage }: Corkboard,
): readonly number[] {
	const known = new Set(storage.map.shards);
	const missing = shards.find((shard) => !known.has(shard));
	if (missing === undefined) return shards;
	throw new UsageError(`The topology has no shard ${missing}.`);
}

export const verbs = {
	show,
	list,
	rewrite,
};
