import { mkdir, open, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { CorkboardError } from "../../../errors.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import type { Change } from "../changeTypes.ts";
import type { Position } from "../position.ts";
import type { ChangeSink } from "./changeSink.ts";
import { openPositionFile } from "./positionFile.ts";

export const POSITION = "position.json";
/** A file takes no more lines once it has so many bytes. */
const FULL_BYTES = 64 * 2 ** 20;

/**
 * A folder of files of NDJSON: `changes-000000.ndjson` and so on. The position is
 * beside them with the length of the last file, so that a run which ended early
 * leaves nothing half or twice: the next one cuts off what follows the position.
 */
export async function openFileSink(
	folder: string,
	{ fullBytes = FULL_BYTES } = {},
): Promise<ChangeSink> {
	const path = join(folder, POSITION);
	await translated(folder, () =>
		mkdir(folder, { mode: 0o700 }).catch((thrown) => {
			if (thrown.code !== "EEXIST") throw thrown;
		}),
	);
	const list = () => translated(folder, () => readdir(folder));
	const found = await list();
	const others = found.filter(
		(name) => !name.startsWith(POSITION) && !isChangesFile(name),
	);
	if (!found.includes(POSITION) && others.length > 0) {
		throw new CorkboardError(
			"CONFLICT",
			`${folder} has other files. Name a folder that is empty or not there yet.`,
		);
	}
	using opened = new DisposableStack();
	const position = opened.use(await openPositionFile(path));
	const { kept } = position;
	const files = await list();
	let nth = Number(kept?.file ?? 0);
	let bytes = Number(kept?.bytes ?? 0);
	await translated(folder, async () => {
		// Without a position nothing of an earlier run counts.
		for (const name of files) {
			if (isBehind(name, kept === null ? -1 : nth))
				await rm(join(folder, name));
		}
		if (kept !== null && files.includes(nameOf(nth))) {
			await truncate(join(folder, nameOf(nth)), bytes);
		}
	});
	const lock = opened.move();
	return {
		begun: kept?.position ?? null,
		async take(changes: readonly Change[], reached: () => Position) {
			await translated(folder, async () => {
				if (changes.length > 0) {
					if (bytes >= fullBytes) {
						nth++;
						bytes = 0;
					}
					const text = changes
						.map((change) => `${JSON.stringify(change)}\n`)
						.join("");
					await using file = await open(join(folder, nameOf(nth)), "a", 0o600);
					try {
						await file.writeFile(text);
						await file.datasync();
					} catch (thrown) {
						await file.truncate(bytes).catch(() => {});
						throw thrown;
					}
					bytes += Buffer.byteLength(text);
				}
				await position.write(reached(), { file: nth, bytes });
			});
		},
		async [Symbol.asyncDispose]() {
			lock[Symbol.dispose]();
		},
	};
}

function nameOf(nth: number): string {
	return `changes-${String(nth).padStart(6, "0")}.ndjson`;
}

export function isChangesFile(name: string): boolean {
	return isBehind(name, -1);
}

/** Whether it is a file of changes behind the `nth`. */
function isBehind(name: string, nth: number): boolean {
	const [, digits] = /^changes-(\d{6,})\.ndjson$/.exec(name) ?? [];
	return digits !== undefined && Number(digits) > nth;
}

export async function translated<T>(
	folder: string,
	body: () => Promise<T>,
): Promise<T> {
	try {
		return await body();
	} catch (thrown) {
		if (thrown instanceof CorkboardError) throw thrown;
		const { code } = thrown as NodeJS.ErrnoException;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${folder}: ${code === "ENOSPC" ? "the disk is full" : reasonOf(thrown)}. What was written stays; run it again to continue.`,
			{ cause: thrown },
		);
	}
}
