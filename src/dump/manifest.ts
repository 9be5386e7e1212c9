import { createHash } from "node:crypto";
import { z } from "zod";
import { CorkboardError } from "../errors.ts";
import { compareLocks } from "../model/lock/compareLocks.ts";
import {
	compareLock,
	EMPTY_LOCK,
	type Lock,
	parseLock,
} from "../model/lock/lock.ts";
import type { Model } from "../model/types.ts";
import { reasonOf } from "../util/reasonOf.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import { readWhole } from "./files/dumpFiles.ts";

/**
 * What a dump says of itself (docs/reference/dump-format.md), in three kinds of
 * files, all of them JSON:
 *
 * - `dump.json` is written first: what is dumped, and how.
 * - `databases/db00042.json` is written when all files of that database are there:
 *   the database is done then, and not before.
 * - `manifest.json` is written last: the dump is whole then.
 */
export const HEAD = "dump.json";
export const MANIFEST = "manifest.json";

/** The newest form of these files that this program reads. */
const FORMAT = 1;
/** A manifest of 4,096 shards has some megabytes. */
const MOST_BYTES = 512 * 1024 * 1024;

export function databaseFile(database: string): string {
	return `databases/${database}.json`;
}

/**
 * Up to where a database was read, for who follows what changed since:
 *
 * - `gtid`: the snapshot has everything of this set of GTIDs. It may have more, of
 *   transactions that were committed in the same moment.
 * - `none`: the server numbers nothing, as an SQLite file without a log of changes.
 */
const position = z.discriminatedUnion("kind", [
	z.object({ kind: z.literal("gtid"), set: z.string() }),
	z.object({ kind: z.literal("none") }),
]);
export type DumpPosition = z.infer<typeof position>;

const file = z.object({
	/** Its name in the dump. */
	name: z.string(),
	rows: z.number(),
	/** The size of the file as it is stored. */
	bytes: z.number(),
	sha256: z.string(),
});
export type DumpedFile = Readonly<z.infer<typeof file>>;

const table = z.object({
	/** The name of a table in a dump to restore; that of a type or mapping in one for analytics. */
	name: z.string(),
	rows: z.number(),
	/** The hash of all lines in the order of the primary key. It says whether what was restored is the same. */
	sha256: z.string(),
	files: z.array(file),
});
export type DumpedTable = z.infer<typeof table>;

const databaseManifest = z.object({
	/** `db00042`, `feed00042`, `mod00007` */
	database: z.string(),
	position,
	begun: z.string(),
	ended: z.string(),
	tables: z.array(table),
});
export type DatabaseManifest = z.infer<typeof databaseManifest>;

const head = z.object({
	format: z.number(),
	/** Made up for each dump. */
	id: z.string(),
	for: z.enum(["analytics", "restore"]),
	files: z.literal("ndjson"),
	isEncrypted: z.boolean(),
	begun: z.string(),
	/** The lock file of the model that it was made with. */
	model: z.unknown(),
	modShards: z.number(),
	databases: z.array(z.string()),
	/** The id of the graph (ops/graphId.ts); null: it had none, or the dump has no lookups. */
	graph: z.string().nullable().default(null),
	/** Hash of the list of ids that were left out because they are erased; null without one. */
	erased: z.string().nullable(),
});
type ParsedHead = z.infer<typeof head>;
export interface DumpHead extends Omit<ParsedHead, "model"> {
	readonly model: Lock;
}

const manifest = z.object({
	format: z.number(),
	id: z.string(),
	ended: z.string(),
	rows: z.number(),
	bytes: z.number(),
	databases: z.array(
		z.object({
			database: z.string(),
			position,
			rows: z.number(),
			bytes: z.number(),
			/** The hash of the database's own manifest. */
			sha256: z.string(),
		}),
	),
});
export type DumpManifest = z.infer<typeof manifest>;

/** A dump as its own files describe it, whole or not. */
export interface Dump {
	readonly head: DumpHead;
	/** Null while databases are missing. */
	readonly manifest: DumpManifest | null;
	/** The manifests of databases that are done, by name. */
	readonly databases: ReadonlyMap<string, DatabaseManifest>;
}

export function newHead(
	model: Model,
	given: Omit<DumpHead, "format" | "model">,
): DumpHead {
	return {
		format: FORMAT,
		...given,
		model: compareLock(EMPTY_LOCK, model).next,
	};
}

/** What goes into `manifest.json` once all databases are done. */
export function manifestOf(
	{ id }: DumpHead,
	databases: Iterable<DatabaseManifest>,
	ended: string,
): DumpManifest {
	const parts = [...databases].map((each) => ({
		database: each.database,
		position: each.position,
		rows: sum(each.tables.map(({ rows }) => rows)),
		bytes: bytesOf(each),
		sha256: hashOf(each),
	}));
	return {
		format: FORMAT,
		id,
		ended,
		rows: sum(parts.map(({ rows }) => rows)),
		bytes: sum(parts.map(({ bytes }) => bytes)),
		databases: parts,
	};
}

/** The hash of a database's manifest, in whatever order its parts were given. */
function hashOf(given: DatabaseManifest): string {
	return createHash("sha256")
		.update(print(databaseManifest.parse(given)))
		.digest("hex");
}

export function bytesOf({ tables }: DatabaseManifest): number {
	return sum(tables.flatMap(({ files }) => files.map(({ bytes }) => bytes)));
}

export function print(value: unknown): string {
	return `${JSON.stringify(value, null, "\t")}\n`;
}

/** What is stored under one of the names above. */
export async function putJson(
	files: DumpFiles,
	name: string,
	value: unknown,
): Promise<void> {
	await files.put(name, [Buffer.from(print(value))]);
}

/** Null if there is no dump yet. Throws BAD_DATA if its head cannot be understood. */
export async function readHead(files: DumpFiles): Promise<DumpHead | null> {
	const text = await readIfThere(files, HEAD);
	return text === null ? null : headOf(files, text);
}

/** The manifest of a database; null until it is done. */
export async function readDatabase(
	files: DumpFiles,
	database: string,
): Promise<DatabaseManifest | null> {
	const name = databaseFile(database);
	const text = await readIfThere(files, name);
	return text === null
		? null
		: parse(`${files.name}/${name}`, text, databaseManifest);
}

/** Throws BAD_DATA if there is no dump, or it is damaged. */
export async function readDump(files: DumpFiles): Promise<Dump> {
	const head = await readHead(files);
	if (head === null) {
		throw new CorkboardError(
			"BAD_DATA",
			`${files.name} holds no dump: it has no ${HEAD}.`,
		);
	}
	const text = await readIfThere(files, MANIFEST);
	const whole =
		text === null ? null : parse(`${files.name}/${MANIFEST}`, text, manifest);
	const databases = new Map<string, DatabaseManifest>();
	for (const database of head.databases) {
		const found = await readDatabase(files, database);
		const expected = whole?.databases.find(
			(each) => each.database === database,
		);
		if (found === null) {
			if (whole === null) continue;
			throw damaged(files, databaseFile(database), "it is missing");
		}
		if (expected !== undefined && expected.sha256 !== hashOf(found)) {
			throw damaged(files, databaseFile(database), "its hash is another one");
		}
		databases.set(database, found);
	}
	return { head, manifest: whole, databases };
}

/** Throws BAD_DATA for a dump that is not whole yet. */
export function requireWhole(files: DumpFiles, dump: Dump): void {
	if (dump.manifest !== null) return;
	const { size } = dump.databases;
	throw new CorkboardError(
		"BAD_DATA",
		`The dump in ${files.name} is not whole: ${size} of ${dump.head.databases.length} databases are done. Run the dump again to finish it.`,
	);
}

/** Throws BAD_CONFIG for a key that is missing, or that nothing was encrypted with. */
export function requireKey(
	files: DumpFiles,
	{ isEncrypted }: DumpHead,
	hasKey: boolean,
): void {
	if (isEncrypted === hasKey) return;
	throw new CorkboardError(
		"BAD_CONFIG",
		isEncrypted
			? `The dump in ${files.name} is encrypted: give the file with its key as --key FILE.`
			: `The dump in ${files.name} is not encrypted: leave out --key.`,
	);
}

/** Throws BAD_MODEL if a dump has what this program does not know, or what means something else to it. */
export function requireKnownModel(
	files: DumpFiles,
	{ model: dumped }: DumpHead,
	model: Model,
): void {
	const own = compareLock(EMPTY_LOCK, model).next;
	const { unknown, contradictions } = compareLocks(own, dumped);
	const wrong = [...unknown, ...contradictions];
	const [first] = wrong;
	if (first === undefined) return;
	throw new CorkboardError(
		"BAD_MODEL",
		unknown.length > 0
			? `The dump in ${files.name} was made with a newer model: this program does not know ${first}${more(wrong)}. Restore it with the version that made it, or a newer one.`
			: `The dump in ${files.name} was made with another model: ${first}${more(wrong)}.`,
	);
}

export function damaged(
	files: Pick<DumpFiles, "name">,
	name: string,
	how: string,
): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`${files.name}/${name} is damaged: ${how}. Take another dump, or fetch the file again.`,
	);
}

export function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, each) => total + each, 0);
}

function more({ length }: readonly string[]): string {
	return length > 1 ? ` and ${length - 1} more` : "";
}

function headOf(files: DumpFiles, text: string): DumpHead {
	const { model, ...rest } = parse(`${files.name}/${HEAD}`, text, head);
	return { ...rest, model: parseLock(JSON.stringify(model)) };
}

function parse<T>(name: string, text: string, shape: z.ZodType<T>): T {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`${name} is no JSON: ${reasonOf(cause)}. Take another dump, or fetch the file again.`,
			{ cause },
		);
	}
	const format = (value as { readonly format?: unknown } | null)?.format;
	if (typeof format === "number" && format > FORMAT) {
		throw new CorkboardError(
			"BAD_DATA",
			`${name} has format ${format}, and this program reads up to ${FORMAT}. Use the version that made it, or a newer one.`,
		);
	}
	const parsed = shape.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	throw new CorkboardError(
		"BAD_DATA",
		`${name} is no file of a dump: ${issue?.path.join(".")} ${issue?.message}.`,
	);
}

async function readIfThere(
	files: DumpFiles,
	name: string,
): Promise<string | null> {
	const bytes = await readWhole(files, name, MOST_BYTES);
	return bytes === null ? null : bytes.toString("utf8");
}
