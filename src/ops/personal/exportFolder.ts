import { createReadStream } from "node:fs";
import {
	mkdir,
	open,
	readdir,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { temporaryName } from "../../util/temporaryName.ts";
import { exportPage } from "./exportPage.ts";
import {
	type ExportContext,
	type ExportLine,
	type ExportPosition,
	exportUser,
} from "./exportUser.ts";

const DATA = "data.ndjson";
const PAGE = "index.html";
const PROGRESS = "progress.json";

/** What a folder of an export that is not done yet holds beside its lines. */
interface Progress {
	readonly user: Id;
	readonly next: ExportPosition;
	/** How much of the file is whole. */
	readonly bytes: number;
	readonly startedAt: string;
}

interface WrittenExport {
	readonly data: string;
	readonly page: string;
	readonly objects: number;
	readonly edges: number;
	readonly bytes: number;
	/** Whether an earlier run had begun it. */
	readonly wentOn: boolean;
}

/**
 * Writes the export of a user into a folder, readable by its owner alone. A run
 * that ended early continues at the page where it was. Throws CONFLICT for a folder
 * with anything else in it, and UNAVAILABLE if it cannot be written.
 */
export async function writeExport(
	context: ExportContext,
	user: Id,
	folder: string,
	{
		signal,
		onPage = () => {},
		now = new Date(),
	}: {
		readonly signal?: AbortSignal;
		readonly onPage?: (of: string, bytes: number) => void;
		readonly now?: Date;
	} = {},
): Promise<WrittenExport> {
	try {
		const begun = await beginIn(folder, user);
		const startedAt = begun?.startedAt ?? now.toISOString();
		let bytes = begun?.bytes ?? 0;
		if (begun?.next !== null) {
			await using file = await open(join(folder, DATA), "a", 0o600);
			// What a killed run wrote after its last note comes again.
			await file.truncate(bytes);
			for await (const { lines, next, of } of exportUser(
				context,
				user,
				begun?.next,
			)) {
				signal?.throwIfAborted();
				const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
				await file.appendFile(text);
				await file.datasync();
				bytes += Buffer.byteLength(text);
				await note(folder, { user, next, bytes, startedAt });
				onPage(of, bytes);
			}
		}
		const counts = await count(folder);
		await writeWhole(
			join(folder, PAGE),
			exportPage(
				{ user, startedAt, ...counts, userType: context.userType },
				linesOf(folder),
			),
		);
		await rm(join(folder, PROGRESS), { force: true });
		return {
			data: join(folder, DATA),
			page: join(folder, PAGE),
			objects: sum(counts.objects),
			edges: sum(counts.edges),
			bytes,
			wentOn: begun !== null,
		};
	} catch (thrown) {
		const { code, syscall } = thrown as NodeJS.ErrnoException;
		if (thrown instanceof CorkboardError || syscall === undefined) throw thrown;
		throw new CorkboardError(
			"UNAVAILABLE",
			`The export was not written to ${folder}: ${code === "ENOSPC" ? "the disk is full" : reasonOf(thrown)}. Run it again: it continues where it was.`,
			{ cause: thrown },
		);
	}
}

/** What an earlier run noted in the folder; null for a new export. */
async function beginIn(
	folder: string,
	user: Id,
): Promise<(Omit<Progress, "next"> & { next: ExportPosition | null }) | null> {
	// Not its parents: if nothing can be created, as in /proc, Node would try for ever.
	await mkdir(folder, { mode: 0o700 }).catch((thrown) => {
		if (thrown.code !== "EEXIST") throw thrown;
	});
	const found = await readdir(folder);
	if (found.length === 0) {
		await writeFile(join(folder, DATA), "", { mode: 0o600 });
		return null;
	}
	const progress = await readProgress(folder);
	// A run that was killed before its first note.
	if (progress === null && found.every((name) => name === DATA)) {
		const { size } = await (await open(join(folder, DATA))).stat();
		if (size === 0) return null;
	}
	if (progress?.user === user) return progress;
	throw new CorkboardError(
		"CONFLICT",
		progress === null
			? `${folder} is not empty. Name a folder that is empty or not there yet.`
			: `${folder} has the unfinished export of user ${progress.user}. Name another folder.`,
	);
}

async function readProgress(folder: string): Promise<Progress | null> {
	let text: string;
	try {
		text = await readFile(join(folder, PROGRESS), "utf8");
	} catch {
		return null;
	}
	try {
		return JSON.parse(text) as Progress;
	} catch {
		throw new CorkboardError(
			"CONFLICT",
			`${join(folder, PROGRESS)} is damaged. Delete the folder, and export again.`,
		);
	}
}

async function note(
	folder: string,
	progress: Omit<Progress, "next"> & { readonly next: ExportPosition | null },
): Promise<void> {
	await writeWhole(join(folder, PROGRESS), [JSON.stringify(progress)]);
}

/** Under its name the file is whole, or not there. */
async function writeWhole(
	path: string,
	texts: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
	const temporary = temporaryName(path);
	try {
		await writeFile(temporary, texts, { mode: 0o600 });
		await rename(temporary, path);
	} catch (thrown) {
		await rm(temporary, { force: true });
		throw thrown;
	}
}

async function* linesOf(folder: string): AsyncGenerator<ExportLine> {
	const input = createReadStream(join(folder, DATA));
	for await (const line of createInterface({ input })) {
		yield JSON.parse(line) as ExportLine;
	}
}

/** How many of each type, and of each list. */
async function count(folder: string): Promise<{
	readonly objects: ReadonlyMap<string, number>;
	readonly edges: ReadonlyMap<string, number>;
}> {
	const objects = new Map<string, number>();
	const edges = new Map<string, number>();
	for await (const line of linesOf(folder)) {
		const [counts, name] =
			"edge" in line ? [edges, line.field] : [objects, line.type];
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return { objects, edges };
}

function sum(counts: ReadonlyMap<string, number>): number {
	return [...counts.values()].reduce((total, one) => total + one, 0);
}
