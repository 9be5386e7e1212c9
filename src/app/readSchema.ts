import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { CorkboardError } from "../errors.ts";
import { readPublicSdl } from "../model/publicSdl.ts";
import type { ModelAndSchema } from "../model/read.ts";
import type { SdlFile } from "../model/sdl.ts";

/**
 * The schema that clients see, of an SDL file, a folder such as `schema/`, or
 * `-` for what `stdin` returns. Throws BAD_DATA.
 */
export async function readSchema(
	path: string,
	stdin: () => Promise<string>,
): Promise<ModelAndSchema["schema"]> {
	return readPublicSdl(path, await filesOf(path, stdin));
}

async function filesOf(
	path: string,
	stdin: () => Promise<string>,
): Promise<readonly SdlFile[]> {
	if (path === "-") return [{ path, text: await stdin() }];
	try {
		if (!(await stat(path)).isDirectory()) {
			return [{ path, text: await readFile(path, "utf8") }];
		}
		const names = await readdir(path);
		return await Promise.all(
			names
				.filter((name) => /\.graphqls?$/.test(name))
				.toSorted()
				.map(async (name) => {
					const file = join(path, name);
					return { path: file, text: await readFile(file, "utf8") };
				}),
		);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${path}: ${(cause as NodeJS.ErrnoException).code}.`,
			{ cause },
		);
	}
}
