import { randomBytes } from "node:crypto";
import { link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CorkboardError } from "../errors.ts";
import { temporaryName } from "../util/temporaryName.ts";
import { readTextFile, whyUnread } from "../util/textFile.ts";
import { SECRET_BYTES } from "./config.ts";

/**
 * The secret of an embedded folder, made on first use. Two processes that make
 * it at once get the same one: the file appears whole, and only the first of
 * them gives it its name.
 */
export async function embeddedSecret(folder: string): Promise<Uint8Array> {
	const file = join(folder, "secret");
	const existing = await readSecret(file);
	if (existing) return existing;
	await mkdir(folder, { recursive: true });
	const unnamed = temporaryName(file);
	try {
		const handle = await open(unnamed, "wx", 0o600);
		try {
			await handle.writeFile(`${randomBytes(48).toString("base64url")}\n`);
			await handle.sync();
		} finally {
			await handle.close();
		}
		await link(unnamed, file).catch((error: NodeJS.ErrnoException) => {
			if (error.code !== "EEXIST") throw error;
		});
	} finally {
		await rm(unnamed, { force: true });
	}
	const made = await readSecret(file);
	if (!made)
		throw new CorkboardError(
			"IN_USE",
			`${file} was removed while it was read.`,
		);
	return made;
}

async function readSecret(file: string): Promise<Uint8Array | undefined> {
	let text: string;
	try {
		text = (await readTextFile(file)).trim();
	} catch (cause) {
		const why = whyUnread(cause);
		if (why === "ENOENT") return undefined;
		throw new CorkboardError("BAD_CONFIG", `Cannot read ${file}: ${why}.`, {
			cause,
		});
	}
	if (Buffer.byteLength(text) < SECRET_BYTES) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`${file} must hold a secret of at least ${SECRET_BYTES} bytes but got: ${Buffer.byteLength(text)}; delete it to have one made (tokens given out before stop working)`,
		);
	}
	return Buffer.from(text);
}
