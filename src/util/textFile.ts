import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

export const BYTE_ORDER_MARK = "\uFEFF";

export class NotUtf8Error extends Error {}

/** A file that somebody gives, as text. Throws if it is not UTF-8: its other bytes would silently become U+FFFD, in a password too. */
export async function readTextFile(path: string): Promise<string> {
	return textOf(await readFile(path), path);
}

export function readTextFileSync(path: string): string {
	return textOf(readFileSync(path), path);
}

export async function readTextStream(
	stream: Readable,
	name: string,
): Promise<string> {
	return textOf(await buffer(stream), name);
}

/** Without the byte order mark, which some editors write and no format here wants. */
function textOf(bytes: Uint8Array, name: string): string {
	if (!isUtf8(bytes)) {
		throw new NotUtf8Error(
			`${name} is not UTF-8: convert it, for example with iconv -f WINDOWS-1252 -t UTF-8`,
		);
	}
	const text = Buffer.from(bytes).toString("utf8");
	return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/** Why a file was not read: `ENOENT`, or that it is not UTF-8. */
export function whyUnread(thrown: unknown): string {
	const { code, message } = thrown as NodeJS.ErrnoException;
	return code ?? message;
}
