import { createHash, randomUUID } from "node:crypto";
import {
	access,
	mkdir,
	readdir,
	readFile,
	rename,
	rm,
	stat,
} from "node:fs/promises";
import { join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
const CACHE = join(ROOT, ".cache");

/** Output name → what goes in: our page, and the three programs Monaco runs beside it. */
const ENTRIES = {
	page: join(import.meta.dirname, "page.tsx"),
	style: join(import.meta.dirname, "style.css"),
	"editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
	"json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
	"graphql.worker": "monaco-graphql/esm/graphql.worker.js",
};

/** Everything the bundle depends on, folders whole. The lock file stands for the packages. */
const INPUTS = [
	"package-lock.json",
	"src/server/graphql/explainAccess.ts",
	"src/server/graphiql",
	"src/server/graphiql/explain",
];

export interface GraphiqlAssets {
	/** Of the inputs: the name of this version in addresses. */
	readonly hash: string;
	readonly folder: string;
}

/**
 * GraphiQL as files of our own: bundled once (about a second) and kept. It is
 * built beside its place and moved there whole, so that a folder that exists is
 * complete, and of two processes building at once the second finds it done.
 */
export async function buildGraphiql(
	cache: string = CACHE,
): Promise<GraphiqlAssets> {
	const hash = await hashOf(INPUTS);
	const folder = join(cache, `graphiql-${hash}`);
	if (await exists(folder)) return { hash, folder };

	await mkdir(cache, { recursive: true });
	const building = `${folder}.${randomUUID()}`;
	try {
		await build(building);
		await rename(building, folder);
	} catch (error) {
		await rm(building, { recursive: true, force: true });
		if (!(await exists(folder))) throw error;
	}
	return { hash, folder };
}

async function build(outdir: string): Promise<void> {
	// Loaded when needed: most starts find the bundle made.
	const esbuild = await import("esbuild");
	await esbuild.build({
		absWorkingDir: ROOT,
		entryPoints: ENTRIES,
		outdir,
		entryNames: "[name]",
		chunkNames: "chunk-[hash]",
		bundle: true,
		splitting: true,
		format: "esm",
		target: "es2022",
		minify: true,
		legalComments: "none",
		jsx: "automatic",
		loader: { ".ttf": "dataurl" },
		define: { "process.env.NODE_ENV": '"production"' },
		logLevel: "silent",
	});
}

async function hashOf(inputs: readonly string[]): Promise<string> {
	const hash = createHash("sha256");
	for (const input of inputs) {
		const path = join(ROOT, input);
		const files = (await stat(path)).isDirectory()
			? (await readdir(path, { withFileTypes: true }))
					.filter((entry) => entry.isFile())
					.map(({ name }) => join(path, name))
					.sort()
			: [path];
		for (const file of files) {
			hash.update(relative(ROOT, file)).update(await readFile(file));
		}
	}
	return hash.digest("hex").slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
	try {
		await access(path);
		return true;
	} catch {
		return false;
	}
}
