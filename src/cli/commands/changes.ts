import { open, rm } from "node:fs/promises";
import { openAdmin } from "../../app/openAdmin.ts";
import { readConfiguredTopology } from "../../app/openTopology.ts";
import { type Config, readConfig } from "../../config/config.ts";
import type { GiveDumpOptions } from "../../dump/giveDump.ts";
import { CorkboardError } from "../../errors.ts";
import { beginAfter } from "../../fleet/changes/beginAfter.ts";
import type { Change } from "../../fleet/changes/changeTypes.ts";
import {
	ChangeFollower,
	type FollowOptions,
} from "../../fleet/changes/followChanges.ts";
import {
	beginAfterFolder,
	FolderFollower,
} from "../../fleet/changes/followFolder.ts";
import { type Position, parsePosition } from "../../fleet/changes/position.ts";
import { readSelection } from "../../fleet/changes/selection.ts";
import type { ChangeSink } from "../../fleet/changes/sinks/changeSink.ts";
import { openFileSink } from "../../fleet/changes/sinks/fileSink.ts";
import { forgetErased } from "../../fleet/changes/sinks/forgetErased.ts";
import { openLineSink } from "../../fleet/changes/sinks/lineSink.ts";
import { openRedisStreamSink } from "../../fleet/changes/sinks/redisStreamSink.ts";
import { openWebhookSink } from "../../fleet/changes/sinks/webhookSink.ts";
import { storeToChange } from "../../fleet/topologyOperations.ts";
import { isShown } from "../../model/shownFields.ts";
import type { Model } from "../../model/types.ts";
import { GRAPH_ID } from "../../ops/graphId.ts";
import { createLog } from "../../server/log.ts";
import {
	disableLog,
	enableLog,
	KEPT_ROWS,
} from "../../storage/sqlite/changeLog.ts";
import { hasShardFiles } from "../../storage/sqlite/driver/hasShardFiles.ts";
import type { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import { mapShardFiles, onFile } from "../../storage/sqlite/shards.ts";
import {
	CHANGES_LEVELS,
	TOPOLOGY_CHANNELS,
} from "../../topology/diagnostics.ts";
import { dataFoldersOf } from "../../topology/ranges.ts";
import { formatNumber } from "../../util/format.ts";
import { isDecodable } from "../../util/isDecodable.ts";
import { readTextFile, whyUnread } from "../../util/textFile.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option, YES } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { isConfirmed } from "../fleetCommand.ts";
import { integer, type Kind } from "../values.ts";

const SINK: Kind<URL | "-"> = {
	name: "SINK",
	expected:
		"- for stdout, file:FOLDER, http://…, https://… or redis://HOST:PORT/STREAM",
	read(given) {
		if (given === "-") return "-";
		if (!/^(file|https?|rediss?):./.test(given)) return undefined;
		return URL.parse(given) ?? undefined;
	},
};

const NAMES: Kind<readonly string[]> = {
	name: "NAMES",
	expected: "names with commas between them, such as Type,Type.field",
	read(given) {
		const names = given.split(",").map((name) => name.trim());
		return names.includes("") ? undefined : names;
	},
};

/** Shorter ones can be guessed. Bytes. */
const LEAST_SECRET = 32;

/** A lag that is said, and how often. Milliseconds. */
const LATE_MS = 10_000;
/** How often it is looked for. Milliseconds. */
const WATCH_MS = 1_000;

const follow = command({
	summary:
		"Prints or sends what is committed, in the order of each shard, from the binary logs of the primaries or the logs of an embedded folder.",
	options: {
		to: option(SINK, `where to: ${SINK.expected} (default -)`, "-"),
		since: option(
			"POSITION",
			"where to begin (default: where the position file says, else now)",
		),
		dump: option(
			"DUMP",
			"begin with this dump, made with --for restore, and continue with everything since",
		),
		key: option(
			"FILE",
			"with --dump: the key that the dump was encrypted with",
		),
		endpoint: option(
			"URL",
			"with --dump s3://…: a server that speaks S3, other than that of AWS",
		),
		select: option(
			NAMES,
			"types, fields and lists, such as Type,Type.field (default: all that are not private)",
			[],
		),
		positionFile: option(
			"FILE",
			"where the position is kept: needed with http: and redis:, and one for each stream",
		),
		secretFile: option(
			"FILE",
			`a file with the secret that signs requests to a URL, at least ${LEAST_SECRET} bytes`,
		),
		keep: option(
			integer(1_000, 1_000_000_000),
			"with --to redis: about how many entries the stream keeps (default: all)",
		),
		untilNow: flag(
			"end with the last change that was committed before the start",
		),
	},
	details:
		"Each line is what one transaction did to one object, or to its lists. Every change comes at least once; after a restart the last ones may come again. It follows promotions and moves of shards. It shows everything, no matter who may see it. It reads with the operator's account, which needs REPLICATION SLAVE and REPLICATION CLIENT. An embedded folder needs changes enable first; its server may run meanwhile.",
	exitCodes: { 1: "a log cannot be followed, or an error" },
	hasJson: false,
	async run(given, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		const { app, model, domain, schema } = await context.app();
		const selection = readSelection(
			{
				model,
				domain,
				isShown: (type, field) => isShown(schema, type, field),
			},
			given.select,
		);
		const signal = context.interruptSignal();
		const onFailure = (name: string, reason: string) =>
			context.stderr(`corkboard: ${name}: ${reason}. It is tried again.`);
		const asked = given.since === undefined ? null : parsePosition(given.since);
		if (
			given.dump === undefined &&
			(given.key ?? given.endpoint) !== undefined
		) {
			throw new UsageError("--key and --endpoint are for --dump DUMP.");
		}
		// Lines of the stream alone go to stdout.
		const destination = { write: context.stderrRaw };
		const log = createLog({ ...config.log, destination });
		await using admin = await openAdmin(config, log, app);
		admin?.readyAs(async () => (signal.aborted ? "draining" : "ready"));
		await using sink = await openSink(given, context, { signal, onFailure });
		await using source = await openLogs(config, context, model);
		const shared = {
			model,
			selection,
			signal,
			onFailure,
			beginAfter: source.beginAfter,
			untilNow: given.untilNow,
			async take(changes: readonly Change[], position: () => Position) {
				await sink.take(changes, position);
				TOPOLOGY_CHANNELS.changesGiven.publish({ changes: changes.length });
			},
		};
		let since = asked ?? sink.begun;
		if (given.dump !== undefined && since !== null && !since.dump) {
			context.stderr(
				`corkboard: ${given.dump} is not read: there is a position already, which is not within a dump.`,
			);
		} else if (given.dump !== undefined) {
			since = await giveDumpFrom(given.dump, given, { ...shared, since }, () =>
				graphIdOf(config, context, model),
			);
			if (since === null) return 0;
		} else if (since?.dump !== undefined) {
			throw new UsageError(
				`The position is within the dump ${since.dump.id}. Give it: --dump DUMP.`,
			);
		}
		const follower = source.follow({ ...shared, since });
		using _levels = CHANGES_LEVELS.add(() => follower.levels());
		let saidAt = Number.NEGATIVE_INFINITY;
		const watch = setInterval(async () => {
			const late = (await follower.levels()).filter(
				({ lagMs }) => lagMs >= LATE_MS,
			);
			if (late.length === 0 || performance.now() - saidAt < LATE_MS) return;
			saidAt = performance.now();
			for (const { host, lagMs } of late) {
				context.stderr(
					`corkboard: changes of ${host} are given out ${Math.round(lagMs / 1_000)} s late.`,
				);
			}
		}, WATCH_MS);
		try {
			await follower.run();
		} finally {
			clearInterval(watch);
		}
		return 0;
	},
});

const enable = command({
	summary:
		"Lets an embedded folder keep a log of what is written, for changes follow.",
	options: {
		keep: option(
			integer(1_000, 1_000_000_000),
			`how many rows each file keeps (default: as many as before, and ${KEPT_ROWS} at first)`,
		),
	},
	details:
		"The log costs writers CPU and disk, so it is off at first. It begins with what is written from then on, and the oldest rows are deleted as new ones come. A follower that was away for too long ends with an error. Run it again with --keep to change that. The server may run meanwhile.",
	async run({ keep }, context) {
		const { model } = await context.app();
		const kept: number[] = [];
		const files = await inFolder(context, (connection) => {
			kept.push(enableLog(connection, model, keep ?? null));
			return true;
		});
		const least = Math.min(...kept);
		const isSame = kept.every((each) => each === least);
		return {
			value: { files, keep: least },
			lines: [
				`${formatNumber(files)} files keep ${isSame ? "" : "at least "}their last ${formatNumber(least)} rows that were written`,
			],
		};
	},
});

const disable = command({
	summary: "Deletes the log that changes enable began.",
	options: { yes: YES },
	details:
		"Programs that follow the changes have to make their copies anew after that. The server may run meanwhile.",
	exitCodes: { 1: "not confirmed, or an error" },
	async run({ yes }, context) {
		const question =
			"This deletes the log. Programs that follow the changes have to make their copies anew.";
		if (!(await isConfirmed(context, { yes }, question))) return 1;
		const files = await inFolder(context, disableLog);
		return {
			value: { files },
			lines: [
				files === 0
					? "no file kept a log: nothing was deleted"
					: `${formatNumber(files)} files keep no log any more`,
			],
		};
	},
});

const forget = command({
	summary:
		"Deletes lines that changes follow wrote into a folder: those of objects that were erased since.",
	arguments: { folder: argument("FOLDER") },
	options: { yes: YES },
	details:
		"All lines of these objects go, except the one whose op is erase. First run accounts erase, then changes follow, so that the folder has that line, and end changes follow. Programs that read the files by position have to read them anew.",
	exitCodes: { 1: "not confirmed, or an error" },
	async run({ folder, yes }, context) {
		const question = `This deletes lines from the files in ${folder}: those of objects that were erased.`;
		if (!(await isConfirmed(context, { yes }, question))) return 1;
		const forgotten = await forgetErased(folder);
		const { lines, objects, files } = forgotten;
		return {
			value: forgotten,
			lines: [
				`${formatNumber(lines)} lines of ${formatNumber(objects)} erased objects are deleted, in ${formatNumber(files)} files`,
			],
		};
	},
});

/** Runs `change` on each file of a shard, in a transaction beside the process that owns the folder. Returns in how many it did something. */
async function inFolder(
	context: CommandContext,
	change: (connection: SqliteConnection) => boolean,
): Promise<number> {
	const config = readConfig(context.env, { secret: "unneeded" });
	const topology = await readConfiguredTopology(config);
	const folders = dataFoldersOf(topology);
	if (folders.size === 0) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"MySQL keeps a log of its own, the binary log: changes follow reads that. This is for an embedded folder.",
		);
	}
	requireData(folders);
	let changed = 0;
	for (const file of mapShardFiles(topology.shards, "db", false).values()) {
		using opened = file;
		const isChanged = onFile(opened, ({ writer }) =>
			writer.transaction(() => change(writer)),
		);
		if (isChanged) changed++;
	}
	return changed;
}

function requireData(folders: ReadonlySet<string>): void {
	for (const folder of folders) {
		if (hasShardFiles(folder)) continue;
		throw new CorkboardError(
			"BAD_DATA",
			`${folder} holds no data. Run serve, init or import first.`,
		);
	}
}

/** What a stream is read from. */
interface Logs extends AsyncDisposable {
	readonly beginAfter: GiveDumpOptions["beginAfter"];
	readonly follow: (
		options: Omit<FollowOptions, "store" | "environment" | "onLoss" | "onLeft">,
	) => Pick<ChangeFollower, "run" | "levels">;
}

/** The files of a folder, or the binary logs of the fleet. */
async function openLogs(
	config: Config,
	context: CommandContext,
	model: Model,
): Promise<Logs> {
	const topology = await readConfiguredTopology(config);
	const folders = dataFoldersOf(topology);
	if (folders.size > 0) {
		requireData(folders);
		return {
			beginAfter: async (copied) => beginAfterFolder(model, topology, copied),
			follow: (options) => new FolderFollower({ ...options, topology }),
			async [Symbol.asyncDispose]() {},
		};
	}
	const store = storeToChange(config);
	const environment = context.env;
	return {
		beginAfter: (copied) => beginAfter(store, environment, copied),
		follow: (options) =>
			new ChangeFollower({
				...options,
				store,
				environment,
				onLoss: (name, gtids) =>
					context.stderr(
						`corkboard: a failover has lost transactions that were given out: ${name} lacks ${gtids}. Make the copy anew.`,
					),
				onLeft: (name, reason) =>
					context.stderr(
						`corkboard: ${name} left the map and is not read any more: ${reason}. What no other server has of it is left out.`,
					),
			}),
		[Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
	};
}

/** Null: it was interrupted. */
async function giveDumpFrom(
	from: string,
	given: {
		readonly key: string | undefined;
		readonly endpoint: string | undefined;
	},
	options: Omit<GiveDumpOptions, "files" | "cipher" | "dump">,
	graphIdHere: () => Promise<string | null>,
): Promise<Position | null> {
	// Loaded on demand: most streams have begun, or begin from now on.
	const { requireSameGraph } = await import("../../dump/dumpedGraphId.ts");
	const { giveDump } = await import("../../dump/giveDump.ts");
	const { openFiles } = await import("../../dump/files/openFiles.ts");
	const { readCipher } = await import("../../dump/files/fileCipher.ts");
	const { readDump } = await import("../../dump/manifest.ts");
	const cipher = given.key === undefined ? null : readCipher(given.key);
	const endpoint = given.endpoint ?? null;
	await using files = await openFiles(from, { endpoint, sse: null });
	const dump = await readDump(files);
	if (options.since === null && dump.head.graph !== null) {
		requireSameGraph(files, dump.head, await graphIdHere());
	}
	return await giveDump({ ...options, files, cipher, dump });
}

/** The id of the graph that is followed, read beside who writes it; null: it has none. */
async function graphIdOf(
	config: Config,
	{ env }: CommandContext,
	model: Model,
): Promise<string | null> {
	const { databasesOf, placeOfLookup } = await import(
		"../../dump/databases.ts"
	);
	const { MysqlTarget } = await import("../../dump/target/mysqlTarget.ts");
	const { SqliteTarget } = await import("../../dump/target/sqliteTarget.ts");
	const topology = await readConfiguredTopology(config);
	await using target =
		dataFoldersOf(topology).size > 0
			? new SqliteTarget({ isDryRun: true })
			: new MysqlTarget(env, 1);
	const place = placeOfLookup(databasesOf(topology, model), GRAPH_ID);
	return await target.lookup(place, GRAPH_ID);
}

interface SinkGiven {
	readonly to: URL | "-";
	readonly positionFile: string | undefined;
	readonly secretFile: string | undefined;
	readonly keep: number | undefined;
}

async function openSink(
	{ to, positionFile, secretFile, keep }: SinkGiven,
	context: CommandContext,
	options: {
		readonly signal: AbortSignal;
		readonly onFailure: (name: string, reason: string) => void;
	},
): Promise<ChangeSink> {
	const protocol = to === "-" ? "-" : to.protocol;
	const isHttp = protocol.startsWith("http");
	const isRedis = protocol.startsWith("redis");
	if (secretFile !== undefined && !isHttp) {
		throw new UsageError("--secret-file is for --to http:… or https:….");
	}
	if (keep !== undefined && !isRedis) {
		throw new UsageError("--keep is for --to redis:….");
	}
	if (to !== "-" && !isDecodable(to.pathname)) {
		throw new UsageError(
			"--to has a % that encodes nothing: write %25 for a percent sign.",
		);
	}
	if (to === "-") {
		return openLineSink({
			positionFile: positionFile ?? null,
			write: (text) => context.print(text.trimEnd()),
		});
	}
	if (protocol === "file:") {
		if (positionFile !== undefined) {
			throw new UsageError(
				"A folder of files has its position beside them: leave --position-file out.",
			);
		}
		return openFileSink(decodeURIComponent(to.pathname));
	}
	if (positionFile === undefined) {
		throw new UsageError(
			`Missing --position-file FILE: --to ${protocol}… keeps its position there.`,
		);
	}
	// A position that cannot be kept would be noticed after the first request only.
	await requireWritable(positionFile);
	if (isRedis) {
		const stream = decodeURIComponent(to.pathname.slice(1));
		if (stream === "") {
			throw new UsageError(
				"--to redis://HOST:PORT/STREAM needs the name of a stream.",
			);
		}
		const url = new URL(to);
		url.pathname = "";
		return openRedisStreamSink({
			...options,
			stream,
			positionFile,
			url: url.href,
			maxLength: keep ?? null,
		});
	}
	if (secretFile === undefined) {
		throw new UsageError(
			"Missing --secret-file FILE: requests to a URL are signed.",
		);
	}
	const secret = await readSecret(secretFile);
	return openWebhookSink({ ...options, url: to.href, secret, positionFile });
}

async function readSecret(file: string): Promise<string> {
	let secret: string;
	try {
		secret = (await readTextFile(file)).trim();
	} catch (thrown) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`--secret-file ${file} cannot be read: ${whyUnread(thrown)}.`,
		);
	}
	if (Buffer.byteLength(secret) >= LEAST_SECRET) return secret;
	throw new CorkboardError(
		"BAD_CONFIG",
		`--secret-file ${file} has ${Buffer.byteLength(secret)} bytes, and needs ${LEAST_SECRET}: openssl rand -hex 32 > ${file}`,
	);
}

async function requireWritable(file: string): Promise<void> {
	try {
		await using _ = await open(`${file}.try`, "w", 0o600);
	} catch (thrown) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`--position-file ${file} cannot be written: ${whyUnread(thrown)}.`,
		);
	}
	await rm(`${file}.try`, { force: true });
}

export const verbs = { follow, enable, disable, forget };
