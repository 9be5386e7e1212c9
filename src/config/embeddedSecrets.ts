import { randomBytes } from "node:crypto";
import { link, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { CorkboardError } from "../errors.ts";
import { makeFolder } from "../util/makeFolder.ts";
import { temporaryName } from "../util/temporaryName.ts";
import { readTextFile, whyUnread } from "../util/textFile.ts";
import { parseSecrets, type Secrets } from "./secrets.ts";

/**
 * The secrets of an embedded folder, the first of them made on first use. Two processes that make
 * it at once get the same one: the file appears whole, and only the first of
 * them gives it its name.
 */
export async function embeddedSecrets(folder: string): Promise<Secrets> {
	const file = join(folder, "secret");
	const existing = await readSecrets(file);
	if (existing) return existing;
	makeFolder(folder);
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
	const made = await readSecrets(file);
	if (!made)
		throw new CorkboardError(
			"IN_USE",
			`${file} was removed while it was read.`,
		);
	return made;
}

async function readSecrets(file: string): Promise<Secrets | undefined> {
	let text: string;
	try {
		text = await readTextFile(file);
	} catch (cause) {
		const why = whyUnread(cause);
		if (why === "ENOENT") return undefined;
		throw new CorkboardError("BAD_CONFIG", `Cannot read ${file}: ${why}.`, {
			cause,
		});
	}
	const parsed = parseSecrets(text);
	if ("secrets" in parsed) return parsed.secrets;
	throw new CorkboardError(
		"BAD_CONFIG",
		`${file} ${parsed.fault}. Correct it, or delete it to have one made: then no token or cursor given out before is accepted.`,
	);
}
