import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	BUILD,
	type GraphiqlAssets,
	hashOf,
	INPUTS,
	ROOT,
} from "./assetFolder.ts";

/** Output name → entry point: our page, and the three workers that Monaco needs. */
const ENTRIES = {
	page: join(import.meta.dirname, "page.tsx"),
	style: join(import.meta.dirname, "style.css"),
	"editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
	"json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
	"graphql.worker": "monaco-graphql/esm/graphql.worker.js",
};

/** Inputs that the bundler does not list. The lock file stands for all packages. */
const OTHER_INPUTS = [
	"package-lock.json",
	"src/server/graphiql/buildGraphiql.ts",
];

/**
 * Bundle GraphiQL into `build/HASH`; null if the bundler is not installed.
 * The folder is written under another name and then renamed, so a folder that
 * exists is complete, and two processes may build at the same time.
 */
export async function buildGraphiql(
	build: string = BUILD,
): Promise<GraphiqlAssets | null> {
	const esbuild = await loadEsbuild();
	if (esbuild === null) return null;
	await mkdir(build, { recursive: true });
	const temporary = join(build, `building-${randomUUID()}`);
	try {
		const { metafile } = await esbuild.build({
			absWorkingDir: ROOT,
			entryPoints: ENTRIES,
			outdir: temporary,
			entryNames: "[name]",
			chunkNames: "chunk-[hash]",
			bundle: true,
			metafile: true,
			splitting: true,
			format: "esm",
			target: "es2022",
			minify: true,
			legalComments: "none",
			jsx: "automatic",
			// All options are here: tsconfig.json is no input.
			tsconfigRaw: {},
			loader: { ".ttf": "dataurl" },
			define: { "process.env.NODE_ENV": '"production"' },
			logLevel: "silent",
		});
		const inputs = [
			...OTHER_INPUTS,
			...Object.keys(metafile.inputs).filter((path) => path.startsWith("src/")),
		].sort();
		const hash = await hashOf(inputs);
		if (hash === null) throw new Error("an input was deleted during the build");
		const folder = join(build, hash);
		await writeFile(join(temporary, INPUTS), JSON.stringify(inputs));
		await rename(temporary, folder).catch(async (error) => {
			// Another process has just built the same version.
			if (!(await exists(folder))) throw error;
		});
		return { hash, folder };
	} finally {
		await rm(temporary, { recursive: true, force: true });
	}
}

/** A development package: production installs do not have it. */
async function loadEsbuild(): Promise<typeof import("esbuild") | null> {
	try {
		return await import("esbuild");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") {
			return null;
		}
		throw error;
	}
}

async function exists(path: string): Promise<boolean> {
	try {
		await access(path);
		return true;
	} catch {
		return false;
	}
}
