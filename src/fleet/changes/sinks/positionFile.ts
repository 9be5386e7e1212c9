import { open, readFile, rename, rm } from "node:fs/promises";
import { CorkboardError } from "../../../errors.ts";
import { lockFile } from "../../../storage/sqlite/driver/fileLock.ts";
import { reasonOf } from "../../../util/reasonOf.ts";
import { temporaryName } from "../../../util/temporaryName.ts";
import { type Position, parsePosition, printPosition } from "../position.ts";

/** What a position file holds. */
interface KeptPosition {
	readonly position: Position;
	/** The lag when it was written, for who watches the file. */
	readonly at: string;
	/** What else the sink keeps. */
	readonly [name: string]: unknown;
}

/** The position of one stream, which no other process keeps meanwhile. */
interface PositionFile extends Disposable {
	/** What an earlier run kept; null: nothing yet. */
	readonly kept: KeptPosition | null;
	/** Afterwards the file has the old position or the new one, even after a crash. */
	write(
		position: Position,
		more?: Readonly<Record<string, unknown>>,
	): Promise<void>;
}

/**
 * Locks `PATH.lock`, which stays there, and reads the file. Throws IN_USE where
 * another stream keeps its position there, and CONFLICT for a file that is damaged:
 * to begin anew would leave changes out.
 */
export async function openPositionFile(path: string): Promise<PositionFile> {
	let lock: Disposable | null;
	try {
		lock = lockFile(`${path}.lock`);
	} catch (thrown) {
		throw failed(`${path}.lock`, thrown);
	}
	if (lock === null) {
		throw new CorkboardError(
			"IN_USE",
			`${path} is in use: another changes follow keeps its position there. Each stream needs a position of its own.`,
		);
	}
	try {
		const kept = await readPositionFile(path);
		return {
			kept,
			write: (position, more) => writePositionFile(path, position, more),
			[Symbol.dispose]: () => lock[Symbol.dispose](),
		};
	} catch (thrown) {
		lock[Symbol.dispose]();
		throw thrown;
	}
}

async function readPositionFile(path: string): Promise<KeptPosition | null> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (thrown) {
		if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw failed(path, thrown);
	}
	try {
		const { position, ...kept } = JSON.parse(text);
		return { ...kept, position: parsePosition(String(position)) };
	} catch {
		throw new CorkboardError(
			"CONFLICT",
			`${path} is no position of a stream of changes. If you delete it, the stream begins from now on, and what was committed meanwhile is left out.`,
		);
	}
}

async function writePositionFile(
	path: string,
	position: Position,
	more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
	const temporary = temporaryName(path);
	try {
		{
			await using file = await open(temporary, "w", 0o600);
			await file.writeFile(
				`${JSON.stringify({ position: printPosition(position), at: new Date().toISOString(), ...more })}\n`,
			);
			await file.sync();
		}
		await rename(temporary, path);
	} catch (thrown) {
		await rm(temporary, { force: true }).catch(() => {});
		throw failed(path, thrown);
	}
}

function failed(path: string, thrown: unknown): CorkboardError {
	return new CorkboardError("UNAVAILABLE", `${path}: ${reasonOf(thrown)}`, {
		cause: thrown,
	});
}
