import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import type { BinlogTables } from "../../storage/mysql/binlog/binlogTypes.ts";
import { databaseOf } from "../../storage/mysql/ddl.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import {
	type LoggedRow,
	loggedCells,
	logState,
	readLog,
	unloggedTables,
} from "../../storage/sqlite/changeLog.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import { mapShardFiles } from "../../storage/sqlite/shards.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type { ChangesLevel } from "../../topology/diagnostics.ts";
import type { Topology } from "../../topology/types.ts";
import { changesOf, type FollowedTable } from "./changesOf.ts";
import type { Change } from "./changeTypes.ts";
import type { FollowOptions } from "./followChanges.ts";
import { followedTables } from "./followedTables.ts";
import type { CopiedShards, Position } from "./position.ts";

interface FollowFolderOptions
	extends Pick<
		FollowOptions,
		| "model"
		| "selection"
		| "since"
		| "take"
		| "signal"
		| "onFailure"
		| "untilNow"
	> {
	/** Its shards are in folders of SQLite files. */
	readonly topology: Topology;
	/** How often the logs are read while they have nothing new. Milliseconds. */
	readonly lookMs?: number;
}

const LOOK_MS = 50;
/** How often it is asked whether the logs are still those of the position. Milliseconds. */
const CHECK_MS = 1_000;
/** Between two tries to read a file that fails. Milliseconds. */
const AGAIN_MS = 500;
/** Rows of one file that are given out together. */
const ROWS = 500;
/** How often the position is kept while nothing that is followed changes. Milliseconds. */
const QUIET_MS = 1_000;

/** How far the log of a file is given out. */
interface Followed {
	readonly shard: number;
	readonly file: ShardFile;
	readonly id: string;
	/** By which the disk knows the file, whatever its name; null if it is gone. */
	readonly inode: string | null;
	given: number;
	/** When it was last known to have nothing that was not given out. Milliseconds since 1970. */
	givenUpTo: number;
}

/**
 * Gives out what is committed in the files of a folder, from their logs of changes,
 * beside the process that writes them: of one shard in the order of the commits,
 * each at least once. Each row that a transaction writes is a change of its own.
 *
 * Its position is a set of GTIDs, as that of `ChangeFollower`: the id of a file's
 * log stands for the server, and the number of a row for the transaction.
 */
export class FolderFollower {
	readonly #options: FollowFolderOptions;
	readonly #files: ReadonlyMap<number, ShardFile>;
	readonly #tables: BinlogTables<FollowedTable>;
	#followed: readonly Followed[] = [];
	#takenAt = Number.NEGATIVE_INFINITY;

	constructor(options: FollowFolderOptions) {
		this.#options = options;
		this.#files = mapShardFiles(options.topology.shards, "db", true);
		this.#tables = followedTables(options.model, options.selection);
	}

	/** Where logs that this names are given out further than was kept. */
	#positionAt(given: ReadonlyMap<Followed, number>): Position {
		const sets = this.#followed.map(
			(one) => `${one.id}:1-${given.get(one) ?? one.given}`,
		);
		return { gtids: sets.join(","), owners: {} };
	}

	/** Ends with the signal, or, with `untilNow`, when it has caught up. Throws CONFLICT if a log cannot be followed. */
	async run(): Promise<void> {
		const { signal, lookMs = LOOK_MS, untilNow = false } = this.#options;
		try {
			this.#followed = readable(() => this.#begin());
			const goals = untilNow ? this.#lasts() : null;
			for (let checkedAt = performance.now(); !signal.aborted; ) {
				const isBehind = await this.#attempt(() => this.#give());
				if (goals !== null && this.#isAt(goals)) break;
				if (isBehind) continue;
				await sleep(lookMs, undefined, { signal }).catch(() => {});
				if (performance.now() - checkedAt < CHECK_MS) continue;
				await this.#attempt(async () => this.#check());
				checkedAt = performance.now();
			}
			const position = this.#positionAt(new Map());
			await this.#options.take([], () => position);
		} catch (thrown) {
			if (!signal.aborted) throw thrown;
		} finally {
			// A caller that asks for levels later gets none of a file that is closed.
			this.#followed = [];
			for (const file of this.#files.values()) file[Symbol.dispose]();
		}
	}

	/** How far it is in each file. */
	async levels(): Promise<readonly ChangesLevel[]> {
		const now = Date.now();
		return this.#followed.map((one) => {
			const { file, given } = one;
			try {
				const [next] = readLog(file.reader, given, 1);
				one.givenUpTo = next?.at ?? now;
			} catch (thrown) {
				// Nobody knows what a file has that cannot be read.
				if (!(thrown instanceof StorageFailure)) throw thrown;
			}
			return { host: file.name, lagMs: Math.max(0, now - one.givenUpTo) };
		});
	}

	#begin(): readonly Followed[] {
		const { since, model } = this.#options;
		const given = new GtidSet(since?.gtids);
		return [...this.#files].map(([shard, file]) => {
			const state = requireLog(file, model);
			const { id, last } = state;
			const at = since === null ? last : lastOf(given, id);
			if (at === null) {
				throw refused(
					file,
					"it is another log than that of the position, or the position is of another folder",
				);
			}
			requireReach(file, state, at);
			const inode = inodeOf(file);
			return { shard, file, id, inode, given: at, givenUpTo: Date.now() };
		});
	}

	/** Whether the logs are still those that were begun with. */
	#check(): void {
		for (const { file, id, inode, given } of this.#followed) {
			// What was opened is still read, and nobody writes it any more.
			if (inodeOf(file) !== inode) throw refused(file, REPLACED);
			const state = requireLog(file, this.#options.model);
			if (state.id !== id) throw refused(file, "it was begun anew");
			requireReach(file, state, given);
		}
	}

	#lasts(): ReadonlyMap<number, number> {
		return new Map(
			this.#followed.map(({ shard, file }) => [
				shard,
				logState(file.reader)?.last ?? 0,
			]),
		);
	}

	#isAt(goals: ReadonlyMap<number, number>): boolean {
		return this.#followed.every(
			({ shard, given }) => given >= (goals.get(shard) ?? 0),
		);
	}

	/** True: the logs have more. Throws CONFLICT if one has lost what was not given out. */
	async #give(): Promise<boolean> {
		const { model, selection, take } = this.#options;
		const changes: Change[] = [];
		const given = new Map<Followed, number>();
		let isBehind = false;
		for (const one of this.#followed) {
			const { shard, file, id } = one;
			const rows = readLog(file.reader, one.given, ROWS);
			if (rows.length === ROWS) isBehind = true;
			let next = one.given;
			for (const row of rows) {
				if (row.number !== next + 1) throw refused(file, TOO_LATE);
				next = row.number;
				const change = this.#rowOf(shard, row);
				if (change === null) continue;
				const gtid = `${id}:${next}`;
				changes.push(
					...changesOf({ gtid, at: row.at, rows: [change] }, model, selection),
				);
			}
			if (rows.length > 0) given.set(one, next);
		}
		// The position is kept seldom while nothing changes that is followed.
		const isQuiet = performance.now() - this.#takenAt < QUIET_MS;
		if (changes.length > 0 || !isQuiet) {
			const position = this.#positionAt(given);
			await take(changes, () => position);
			this.#takenAt = performance.now();
		}
		for (const [one, next] of given) one.given = next;
		return isBehind;
	}

	#rowOf(shard: number, { name, before, after }: LoggedRow) {
		const table = this.#tables.get(`${databaseOf("db", shard)}.${name}`);
		if (table === undefined || table.of === null) return null;
		const isObject = "number" in table.of;
		return {
			table,
			before: loggedCells(before, isObject),
			after: loggedCells(after, isObject),
		};
	}

	/** A file that does not answer is tried again. */
	async #attempt<T>(body: () => Promise<T>): Promise<T | null> {
		const { signal, onFailure } = this.#options;
		try {
			return await body();
		} catch (thrown) {
			if (!(thrown instanceof StorageFailure)) throw thrown;
			if (thrown.kind === "moved") throw noLog(thrown.host);
			onFailure?.(thrown.host, thrown.message);
			await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
			return null;
		}
	}
}

/** The position from which the stream of a folder has everything that these copies lack. Throws CONFLICT if a log does not reach back so far, or is another one. */
export function beginAfterFolder(
	model: Model,
	topology: Topology,
	{ sets }: Pick<CopiedShards, "sets">,
): Position {
	const files = mapShardFiles(topology.shards, "db", true);
	const setOf = (shard: number, file: ShardFile) => {
		const state = requireLog(file, model);
		const set = sets.get(shard) ?? "";
		const at = lastOf(new GtidSet(set), state.id);
		if (at === null) {
			throw refused(
				file,
				`the dump ${sets.has(shard) ? "was made before it was begun" : "lacks its shard"}. Take another dump`,
			);
		}
		requireReach(file, state, at);
		return set;
	};
	try {
		const gtids = readable(() =>
			[...files].map(([shard, file]) => setOf(shard, file)),
		);
		return { gtids: gtids.join(","), owners: {} };
	} finally {
		for (const file of files.values()) file[Symbol.dispose]();
	}
}

/** Runs `body`; of a file that cannot be read it throws UNAVAILABLE. */
function readable<T>(body: () => T): T {
	try {
		return body();
	} catch (thrown) {
		if (!(thrown instanceof StorageFailure)) throw thrown;
		throw new CorkboardError("UNAVAILABLE", thrown.message, { cause: thrown });
	}
}

const TOO_LATE =
	"it does not reach back far enough: its oldest rows were deleted before they were given out. Raise --keep of changes enable";

const REPLACED =
	"another file was put in its place, or it was deleted, while it was followed";

function inodeOf({ location }: ShardFile): string | null {
	const found = statSync(location.path, {
		bigint: true,
		throwIfNoEntry: false,
	});
	return found === undefined ? null : `${found.dev}:${found.ino}`;
}

function requireLog(file: ShardFile, model: Model) {
	const state = logState(file.reader);
	if (state === null) throw noLog(file.name);
	const [unlogged] = unloggedTables(file.reader, model);
	if (unlogged === undefined) return state;
	throw new CorkboardError(
		"CONFLICT",
		`The log of changes of ${file.name} lacks what was written to ${unlogged}: somebody made the table, or removed its triggers. Run changes disable and changes enable, and make your copy anew.`,
	);
}

function requireReach(
	file: ShardFile,
	{ first, last }: { readonly first: number; readonly last: number },
	given: number,
): void {
	if (given + 1 < first) throw refused(file, TOO_LATE);
	if (given > last) {
		throw refused(
			file,
			"it lacks rows that were given out: the file was put back from an older copy",
		);
	}
}

/** The last number of a log in a position; null: it has none of it. */
function lastOf(set: GtidSet, id: string): number | null {
	const own = set.ofSourcesIn(new GtidSet(`${id}:1`));
	return own.size === 0 ? null : own.size;
}

function noLog(name: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`${name} keeps no log of changes. Run changes enable: it begins with what is written from then on.`,
	);
}

function refused({ name }: ShardFile, reason: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`The log of changes of ${name} cannot be followed: ${reason}. Make your copy anew.`,
	);
}
