import { createReadStream } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CorkboardError } from "../../../errors.ts";
import { TEMPORARY, temporaryName } from "../../../util/temporaryName.ts";
import {
	isChangesFile,
	openFileSink,
	POSITION,
	translated,
} from "./fileSink.ts";
import { openPositionFile } from "./positionFile.ts";

/** What is written at once. */
const WRITTEN_CHARACTERS = 2 ** 20;

interface Forgotten {
	/** Objects that were erased. */
	readonly objects: number;
	/** How many of their lines were deleted. */
	readonly lines: number;
	/** Files that were written anew. */
	readonly files: number;
}

/**
 * Deletes from a folder of changes all lines of objects that were erased, but the
 * line that says so. It takes the folder's lock, so nobody may write there meanwhile. A file
 * is as it was or as it shall be, even after a crash. Throws BAD_DATA if the
 * folder has no position, or a line is none, IN_USE, and UNAVAILABLE as for a full disk.
 */
export async function forgetErased(folder: string): Promise<Forgotten> {
	const names = await translated(folder, () => readdir(folder));
	if (!names.includes(POSITION)) {
		throw new CorkboardError(
			"BAD_DATA",
			`${folder} is no folder that changes follow wrote.`,
		);
	}
	{
		// What a run that was killed left behind the position goes.
		await using _ = await openFileSink(folder);
	}
	using position = await openPositionFile(join(folder, POSITION));
	const { kept } = position;
	const found = await translated(folder, () => readdir(folder));
	for (const name of found.filter((each) => each.endsWith(TEMPORARY))) {
		await translated(folder, () => rm(join(folder, name)));
	}
	const files = found.filter(isChangesFile).toSorted();
	const erased = new Set<string>();
	for (const name of files) {
		for await (const { op, id } of linesIn(join(folder, name))) {
			if (op === "erase") erased.add(id);
		}
	}
	if (erased.size === 0 || kept === null) {
		return { objects: erased.size, lines: 0, files: 0 };
	}
	// The last file ends here: of a file that is written to, the position says how long it is.
	await position.write(kept.position, {
		file: Number(kept.file) + 1,
		bytes: 0,
	});
	let lines = 0;
	let rewritten = 0;
	for (const name of files) {
		const deleted = await translated(folder, () =>
			rewriteFile(join(folder, name), erased),
		);
		lines += deleted;
		if (deleted > 0) rewritten++;
	}
	return { objects: erased.size, lines, files: rewritten };
}

/** Returns how many lines it deleted; of a file with none of these it writes nothing. */
async function rewriteFile(
	path: string,
	erased: ReadonlySet<string>,
): Promise<number> {
	let deleted = 0;
	const temporary = temporaryName(path);
	try {
		{
			await using file = await open(temporary, "w", 0o600);
			let text = "";
			for await (const { op, id, line } of linesIn(path)) {
				if (op !== "erase" && erased.has(id)) deleted++;
				else text += `${line}\n`;
				if (text.length < WRITTEN_CHARACTERS) continue;
				await file.writeFile(text);
				text = "";
			}
			await file.writeFile(text);
			await file.sync();
		}
		if (deleted > 0) await rename(temporary, path);
	} finally {
		await rm(temporary, { force: true });
	}
	return deleted;
}

async function* linesIn(path: string): AsyncGenerator<{
	readonly op: string;
	readonly id: string;
	readonly line: string;
}> {
	const input = createReadStream(path, "utf8");
	let nth = 0;
	for await (const line of createInterface({ input })) {
		nth++;
		let change: { readonly op?: unknown; readonly id?: unknown };
		try {
			change = JSON.parse(line);
		} catch {
			throw new CorkboardError(
				"BAD_DATA",
				`${path}:${nth} is no line of JSON.`,
			);
		}
		yield { op: String(change.op), id: String(change.id), line };
	}
}
