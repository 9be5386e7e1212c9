import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CorkboardError } from "../errors.ts";
import { MAX_LOCAL } from "../id/ids.ts";
import type { HostReport, tableProblems } from "../storage/hostReport.ts";
import type { StorageAdmin } from "../storage/storage.ts";
import { changeText, MADE, type TopologyStore } from "../topology/store.ts";
import { plural } from "../util/format.ts";

/**
 * Which tables a fleet once had. A table that is missing is new if it was never
 * made, and lost if it was: made again, it would be empty, and give ids that
 * edges, tokens and caches still name.
 */
export interface MadeTables {
	/** As `db00003.pins`. */
	readonly tables: ReadonlySet<string>;
	/** How often a table was made anew after it was lost. */
	readonly losses: ReadonlyMap<string, number>;
}

/** Where it is remembered. */
interface TablesRecord {
	/** Whether anything can be remembered. */
	readonly isKept: boolean;
	/** Null: there is no record. */
	read(): Promise<MadeTables | null>;
	add(tables: readonly string[], lost?: readonly string[]): Promise<void>;
}

/** Beside the topology, with the model that the tables were made for. */
export function recordInStore(store: TopologyStore): TablesRecord {
	return {
		// If the topology is a file, which this process may only read, there is no place for a record.
		isKept: store.hasMembers,
		read: () => readMade(store),
		async add(tables, lost = []) {
			if (!store.hasMembers) return;
			await changeText(store, MADE, (text) =>
				print(
					joined(text === null ? null : parse(store.name, text), tables, lost),
				),
			);
		},
	};
}

/** What the store remembers. Throws UNAVAILABLE, and BAD_DATA if it is no record. */
export async function readMade(
	store: Pick<TopologyStore, "get" | "name">,
): Promise<MadeTables | null> {
	const found = await store.get(MADE);
	return found && parse(store.name, found.text);
}

/** In each folder of SQLite files, whose owner has locked it: one that is lost takes no memory of the others with it. */
export function recordInFolders(folders: ReadonlySet<string>): TablesRecord {
	const files = [...folders].map((folder) => join(folder, "tables.json"));
	const read = async () => {
		const found = files.flatMap((file) => {
			const text = textOf(file);
			return text === null ? [] : [parse(file, text)];
		});
		return found.length === 0
			? null
			: found.reduce((all, each) => joined(all, [...each.tables], [], each));
	};
	return {
		isKept: true,
		read,
		async add(tables, lost = []) {
			const text = print(joined(await read(), tables, lost));
			for (const file of files) {
				if (textOf(file) === text) continue;
				writeFileSync(`${file}.next`, text);
				renameSync(`${file}.next`, file);
			}
		},
	};
}

function textOf(file: string): string | null {
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}

/**
 * Those of the missing tables that are lost. Without a record, the others show it:
 * `init` makes a new table everywhere, so one that its database alone lacks was
 * there too. A database that has no table at all is then new, unless none may be.
 */
export function lostTables(
	{ wanted, missing }: TablesOf,
	made: MadeTables | null,
	mayBeNew: boolean,
): readonly string[] {
	const all = new Set(wanted);
	const absent = new Set(missing.filter((name) => all.has(name)));
	if (made !== null) return [...absent].filter((name) => made.tables.has(name));
	const present = wanted.filter((name) => !absent.has(name));
	const inUse = new Set(present.map((name) => databaseOf(name)));
	const elsewhere = new Set(present.map(kindAndTable));
	return [...absent].filter(
		(name) =>
			elsewhere.has(kindAndTable(name)) &&
			(inUse.has(databaseOf(name)) || !mayBeNew),
	);
}

interface TablesOf {
	/** All tables that the model and the topology ask for. */
	readonly wanted: readonly string[];
	/** Columns too. */
	readonly missing: readonly string[];
}

interface Creation {
	/** Whether a database without any table may be a new one, of which nothing is remembered. */
	readonly mayBeNew: boolean;
	/** Whether only a part of the fleet is recorded. Then the record is continued, not begun: a new one would say that the rest was never made. */
	readonly isPart?: boolean;
	readonly progress?: (done: number, total: number) => void;
}

/** Makes what is missing, and remembers it. Throws BAD_DATA, and makes nothing, if a table is lost. */
export async function createTables(
	admin: Pick<StorageAdmin, "tables" | "missingTables" | "createTables">,
	record: TablesRecord,
	{ mayBeNew, isPart = false, progress }: Creation,
): Promise<void> {
	const made = await record.read();
	const wanted = admin.tables();
	const missing = await admin.missingTables();
	const lost = lostTables({ wanted, missing }, made, mayBeNew);
	if (lost.length > 0) {
		throw new CorkboardError("BAD_DATA", lostSentence(lost, missing));
	}
	// Before the first new one, so that what an interruption leaves is not taken for lost.
	const isKept = made !== null || !isPart;
	if (made === null && isKept) await record.add(without(wanted, missing));
	await admin.createTables(progress);
	if (isKept) await record.add(wanted);
}

/** Makes the lost tables again, empty: their ids go on where none was given before. Returns which. */
export async function createLostTables(
	admin: Pick<StorageAdmin, "tables" | "missingTables" | "createTables">,
	record: TablesRecord,
	mayBeNew: boolean,
): Promise<readonly string[]> {
	if (!record.isKept) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"Lost tables are made again only if that can be remembered, so that no id is given twice: let this command write beside the topology file.",
		);
	}
	const made = await record.read();
	const wanted = admin.tables();
	const missing = await admin.missingTables();
	const lost = lostTables({ wanted, missing }, made, mayBeNew);
	if (lost.length === 0) return [];
	// Before they are there: made twice, they skip ids twice.
	await record.add(without(wanted, missing), lost);
	const { losses } = joined(made, [], lost);
	await admin.createTables(
		undefined,
		new Map(lost.map((name) => [name, firstFree(losses.get(name) ?? 1)])),
	);
	await record.add(wanted);
	return lost;
}

/** Each time half of the ids that are left is skipped: at first 34 billion, more than any table has given. */
function firstFree(losses: number): number {
	return MAX_LOCAL + 1 - (MAX_LOCAL + 1) / 2 ** losses;
}

/** As `tableProblems` takes them: of hosts that all said what they lack, if nothing is remembered. */
export function lostOf(
	reports: readonly HostReport[],
	wanted: readonly string[],
	made: MadeTables | null,
	mayBeNew: boolean,
): Parameters<typeof tableProblems>[1] {
	const primaries = reports.filter(({ role }) => role === "primary");
	if (
		made === null &&
		primaries.some(({ missingTables }) => missingTables === null)
	) {
		return null;
	}
	const missing = primaries.flatMap(({ missingTables }) => missingTables ?? []);
	const tables = lostTables({ wanted, missing }, made, mayBeNew);
	return tables.length === 0
		? null
		: { tables, sentence: lostSentence(tables, missing) };
}

/** What to do about lost tables. */
export function lostSentence(
	names: readonly string[],
	missing: readonly string[],
): string {
	// That of a host is remembered by shard, and restored by host.
	const ofHosts = names.some(isOutboxOfHost)
		? missing.filter((name) => name.startsWith("corkboard.outbox of "))
		: [];
	const lost = [...ofHosts, ...names.filter((name) => !isOutboxOfHost(name))];
	const more = lost.length > NAMED ? ", …" : "";
	const [were, they, them] =
		lost.length === 1
			? ["was made once and is lost", "it", "it"]
			: ["were made once and are lost", "they", "them"];
	return `${plural(lost.length, "table")} ${were}: ${lost.slice(0, NAMED).join(", ")}${more}. Made anew, ${they} would be empty and give out ids again that others still refer to. Restore ${them} from a backup, then run hosts raise-ids for the shards. If that cannot be done, init --lost creates ${them} again (docs/how-to/recovery.md, A lost table).`;
}

const NAMED = 8;
/** `db00003.corkboard.outbox` */
const isOutboxOfHost = (name: string) => name.endsWith(".corkboard.outbox");

function without(
	wanted: readonly string[],
	missing: readonly string[],
): readonly string[] {
	const absent = new Set(missing);
	return wanted.filter((name) => !absent.has(name));
}

function joined(
	made: MadeTables | null,
	tables: readonly string[],
	lost: readonly string[],
	other?: MadeTables,
): MadeTables {
	const losses = new Map(made?.losses);
	for (const [name, times] of other?.losses ?? []) {
		losses.set(name, Math.max(times, losses.get(name) ?? 0));
	}
	for (const name of lost) losses.set(name, (losses.get(name) ?? 0) + 1);
	return {
		tables: new Set([...(made?.tables ?? []), ...tables, ...lost]),
		losses,
	};
}

/** `db00003.pins` → `db00003` */
function databaseOf(name: string): string {
	return name.slice(0, name.indexOf("."));
}

/** `db00003.pins` → `db.pins` */
function kindAndTable(name: string): string {
	return name.replace(/[0-9]+(?=\.)/, "");
}

/** Ranges of the numbers of databases, by the name of a table without them: thousands of shards fit into a node of ZooKeeper. */
type Ranges = Readonly<Record<string, readonly (readonly [number, number])[]>>;

function print({ tables, losses }: MadeTables): string {
	const numbers = new Map<string, number[]>();
	for (const name of tables) {
		const table = kindAndTable(name);
		const some = numbers.get(table) ?? [];
		some.push(Number(/[0-9]+(?=\.)/.exec(name)?.[0] ?? -1));
		numbers.set(table, some);
	}
	const ranges = Object.fromEntries(
		[...numbers]
			.toSorted(([a], [b]) => (a < b ? -1 : 1))
			.map(([table, some]) => [table, rangesOf(some)]),
	) satisfies Ranges;
	const lost = Object.fromEntries(
		[...losses].toSorted(([a], [b]) => (a < b ? -1 : 1)),
	);
	return `${JSON.stringify({ tables: ranges, lost })}\n`;
}

function rangesOf(numbers: readonly number[]): [number, number][] {
	const ranges: [number, number][] = [];
	for (const number of numbers.toSorted((a, b) => a - b)) {
		const last = ranges.at(-1);
		if (last !== undefined && number <= last[1] + 1) last[1] = number;
		else ranges.push([number, number]);
	}
	return ranges;
}

function parse(place: string, text: string): MadeTables {
	try {
		const { tables, lost } = JSON.parse(text) as {
			readonly tables: Ranges;
			readonly lost: Readonly<Record<string, number>>;
		};
		return {
			tables: new Set(
				Object.entries(tables).flatMap(([table, ranges]) =>
					ranges.flatMap(([first, last]) => named(table, first, last)),
				),
			),
			losses: new Map(Object.entries(lost)),
		};
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`${place}: expected the record of the tables that were made, but got: ${text.slice(0, 80)}`,
			{ cause },
		);
	}
}

/** `db.pins`, 3, 4 → `db00003.pins`, `db00004.pins` */
function named(table: string, first: number, last: number): readonly string[] {
	if (first < 0) return [table];
	return Array.from({ length: last - first + 1 }, (_, index) =>
		table.replace(".", `${String(first + index).padStart(5, "0")}.`),
	);
}
