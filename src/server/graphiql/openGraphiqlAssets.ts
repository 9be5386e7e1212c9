import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { BUILD, type GraphiqlAssets, hashOf, INPUTS } from "./assetFolder.ts";
import { buildGraphiql } from "./buildGraphiql.ts";

/**
 * The assets of the source at hand, which a clone builds when they are missing
 * or out of date (about a second). A production install has no bundler: it
 * uses those that `npm run build:graphiql` wrote, if need be of an older
 * source, and gets null if there are none.
 */
export async function openGraphiqlAssets(
	build: string = BUILD,
	bundle: typeof buildGraphiql = buildGraphiql,
): Promise<GraphiqlAssets | null> {
	const versions = await versionsIn(build);
	for (const version of versions) {
		if ((await hashOf(await inputsOf(version))) === version.hash) {
			return version;
		}
	}
	return (await bundle(build)) ?? versions.at(-1) ?? null;
}

/** Oldest first. */
async function versionsIn(build: string): Promise<readonly GraphiqlAssets[]> {
	const names = await readdir(build).catch(() => []);
	const versions = await Promise.all(
		names
			.filter((name) => /^[0-9a-f]{16}$/.test(name))
			.map(async (hash) => {
				const folder = join(build, hash);
				return { hash, folder, builtAt: (await stat(folder)).mtimeMs };
			}),
	);
	return versions
		.toSorted((a, b) => a.builtAt - b.builtAt)
		.map(({ hash, folder }) => ({ hash, folder }));
}

async function inputsOf({
	folder,
}: GraphiqlAssets): Promise<readonly string[]> {
	return JSON.parse(await readFile(join(folder, INPUTS), "utf8"));
}
