import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CorkboardError } from "../../errors.ts";
import type { DumpFiles, FilesOptions } from "./dumpFiles.ts";
import { FolderFiles } from "./folderFiles.ts";

/** `s3://BUCKET/PREFIX`, `file:FOLDER` or the path of a folder. Throws BAD_CONFIG. */
export async function openFiles(
	place: string,
	options: FilesOptions,
): Promise<DumpFiles> {
	const s3 = /^s3:\/\/([^/]+)\/?(.*)$/.exec(place);
	if (s3 !== null) {
		// Loaded on demand: nobody else needs the client.
		const { openS3Files } = await import("./s3Files.ts");
		const [, bucket = "", path = ""] = s3;
		return openS3Files({
			bucket,
			prefix: path.replace(/\/+$/, ""),
			...options,
		});
	}
	if (options.endpoint !== null || options.sse !== null) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`--endpoint and --sse are for s3://BUCKET/PREFIX, got ${place}.`,
		);
	}
	if (/^[a-z][a-z0-9+.-]+:/i.test(place) && !place.startsWith("file:")) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`A dump is in s3://BUCKET/PREFIX or file:FOLDER, got ${place}.`,
		);
	}
	return new FolderFiles(folderOf(place));
}

function folderOf(place: string): string {
	const path = place.startsWith("file://")
		? fileURLToPath(place)
		: place.replace(/^file:/, "");
	if (path === "") {
		throw new CorkboardError(
			"BAD_CONFIG",
			"file: names no folder. Write file:FOLDER.",
		);
	}
	return resolve(path);
}
