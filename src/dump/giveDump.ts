import { CorkboardError } from "../errors.ts";
import { changesOf, type FollowedTable } from "../fleet/changes/changesOf.ts";
import type { Change } from "../fleet/changes/changeTypes.ts";
import { followedTables } from "../fleet/changes/followedTables.ts";
import type {
	CopiedShards,
	DumpPlace,
	Position,
} from "../fleet/changes/position.ts";
import type { Selection } from "../fleet/changes/selection.ts";
import type { Model } from "../model/types.ts";
import { shardTables, type Table } from "../storage/statements/tables.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { checkFile, readLines } from "./lineFiles.ts";
import {
	type Dump,
	type DumpedFile,
	damaged,
	requireKey,
	requireKnownModel,
	requireWhole,
} from "./manifest.ts";
import { rowIn } from "./storedLines.ts";

export interface GiveDumpOptions {
	/** The position behind these copies of shards. Throws CONFLICT if the stream cannot begin there. */
	readonly beginAfter: (copied: CopiedShards) => Promise<Position>;
	readonly model: Model;
	readonly selection: Selection;
	readonly files: DumpFiles;
	readonly cipher: FileCipher | null;
	readonly dump: Dump;
	/** Where an earlier run ended within the dump; null: nothing of it was given out. */
	readonly since: Position | null;
	/** As that of `ChangeFollower`. */
	readonly take: (
		changes: readonly Change[],
		position: () => Position,
	) => Promise<void>;
	readonly signal: AbortSignal;
}

/** How many rows are given out together. After them the position is kept. */
const ROWS = 1_000;

/**
 * Gives out the rows of a dump as changes that create them, and returns the position
 * behind it: a stream that begins there has what was committed since. Null: it was
 * interrupted. Each file is read twice, because only its end says whether it is
 * damaged. Throws BAD_DATA, BAD_CONFIG or BAD_MODEL for a dump that does not serve,
 * and CONFLICT if the stream cannot begin with it, or has begun with another.
 */
export async function giveDump(
	options: GiveDumpOptions,
): Promise<Position | null> {
	const { files, dump, since, take, signal } = options;
	requireUsable(options);
	const { id } = dump.head;
	const begun = since ?? {
		...(await options.beginAfter(copiedIn(files, dump))),
		dump: { id, file: "", rows: 0 },
	};
	const { dump: place, ...behind } = begun;
	if (place !== undefined && place.id !== id) {
		throw new CorkboardError(
			"CONFLICT",
			`The position is within the dump ${place.id}, and ${files.name} holds the dump ${id}. Give the former, or begin without a position.`,
		);
	}
	try {
		await take([], () => begun);
		for await (const { changes, file, rows } of changesIn(options, place)) {
			signal.throwIfAborted();
			await take(changes, () => ({ ...behind, dump: { id, file, rows } }));
		}
		await take([], () => behind);
		return behind;
	} catch (thrown) {
		if (signal.aborted) return null;
		throw thrown;
	}
}

function requireUsable({ files, dump, model, cipher }: GiveDumpOptions): void {
	const { head } = dump;
	if (head.for !== "restore") {
		throw new CorkboardError(
			"BAD_DATA",
			`${files.name} holds a dump for analysis. It lacks what not everybody may see, and the places of edges in their lists, so that a copy of it would not be equal to what follows. Take a dump with --for restore.`,
		);
	}
	requireKey(files, head, cipher !== null);
	requireKnownModel(files, head, model);
	requireWhole(files, dump);
}

/** What each shard had when it was dumped. Throws BAD_DATA if the server did not say. */
function copiedIn(files: DumpFiles, { head, databases }: Dump): CopiedShards {
	const sets = new Map<number, string>();
	for (const { database, position } of databases.values()) {
		const shard = shardNamed(database);
		if (shard === null) continue;
		if (position.kind === "none") {
			throw new CorkboardError(
				"BAD_DATA",
				`${files.name} does not say up to where ${database} was read: its server had no GTIDs, or its folder kept no log of changes. A stream of changes cannot begin there.`,
			);
		}
		sets.set(shard, position.set);
	}
	return { sets, begun: head.begun };
}

interface DumpedChanges extends Omit<DumpPlace, "id"> {
	readonly changes: readonly Change[];
}

/** The rows behind a place, as changes, with the place behind them. */
async function* changesIn(
	options: GiveDumpOptions,
	since: DumpPlace | undefined,
): AsyncGenerator<DumpedChanges> {
	const { files, cipher, model, selection } = options;
	for (const { file, table, at, passed } of filesBehind(options, since)) {
		await checkFile(files, file);
		const reading = { files, cipher };
		for await (const { lines, rows } of linesBehind(reading, file, passed)) {
			const inserted = lines.map((line) => {
				const after = rowIn(table.stored, line);
				if (after !== null)
					return { table: table.followed, before: null, after };
				throw damaged(files, file.name, "it has lines of another form");
			});
			const changes = changesOf(
				{ gtid: `${file.name}:${rows}`, at, rows: inserted },
				model,
				selection,
			);
			yield { changes, file: file.name, rows };
		}
	}
}

interface FileBehind {
	readonly file: DumpedFile;
	readonly table: {
		readonly stored: Table;
		readonly followed: FollowedTable;
	};
	/** When it was dumped. Milliseconds since 1970. */
	readonly at: number;
	/** How many of its rows were given out. */
	readonly passed: number;
}

/** The files that have rows behind a place, of tables that are selected, in the order of the manifests. */
function* filesBehind(
	{ dump, model, selection }: GiveDumpOptions,
	since: DumpPlace | undefined,
): Generator<FileBehind> {
	const followed = followedTables(model, selection);
	const stored = new Map(shardTables(model).map((each) => [each.name, each]));
	let isBehind = since === undefined || since.file === "";
	for (const { database, begun, tables } of dump.databases.values()) {
		for (const { name, files } of tables) {
			const own = followed.get(`${database}.${name}`);
			const columns = stored.get(name);
			for (const file of files) {
				const isIn = file.name === since?.file;
				isBehind ||= isIn;
				if (!isBehind || own === undefined || columns === undefined) continue;
				yield {
					file,
					table: { stored: columns, followed: own },
					at: Date.parse(begun),
					passed: isIn ? since.rows : 0,
				};
			}
		}
	}
}

/** The lines of a file behind the first ones, `ROWS` at a time, with the number of all lines up to there. */
async function* linesBehind(
	reading: Parameters<typeof readLines>[0],
	file: DumpedFile,
	passed: number,
): AsyncGenerator<{
	readonly lines: readonly string[];
	readonly rows: number;
}> {
	let read = 0;
	let lines: string[] = [];
	for await (const some of readLines(reading, file)) {
		for (const line of some) {
			if (++read <= passed) continue;
			lines.push(line);
			if (lines.length < ROWS) continue;
			yield { lines, rows: read };
			lines = [];
		}
	}
	if (lines.length > 0) yield { lines, rows: read };
}

/** The shard of `db00042`; null for a database that is none. */
function shardNamed(database: string): number | null {
	const [, digits] = /^db(\d{5})$/.exec(database) ?? [];
	return digits === undefined ? null : Number(digits);
}
