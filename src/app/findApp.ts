import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { CorkboardError } from "../errors.ts";
import type { App } from "./defineApp.ts";

/** The folder of the app that comes with the program. */
function ownApp(): string {
	const root = join(import.meta.dirname, "../..");
	const { config } = JSON.parse(
		readFileSync(join(root, "package.json"), "utf8"),
	);
	return join(root, config.app);
}

/** What an app imports of the engine is this engine, wherever the app is. */
const ENGINE: ReadonlyMap<string, string> = new Map([
	["corkboard", new URL("../corkboard.ts", import.meta.url).href],
	["corkboard/embed", new URL("../embed.ts", import.meta.url).href],
	["corkboard/parts", new URL("../parts.ts", import.meta.url).href],
	["corkboard/testing", new URL("../testing.ts", import.meta.url).href],
]);
let isHooked = false;

function resolveEngine(): void {
	if (isHooked) return;
	isHooked = true;
	registerHooks({
		resolve(specifier, context, next) {
			const url = ENGINE.get(specifier);
			return url === undefined
				? next(specifier, context)
				: { url, shortCircuit: true };
		},
	});
}

/**
 * The app in a folder: what its `app.ts`, or `app.js`, exports as default.
 * Throws BAD_CONFIG if there is none, and BAD_MODEL if it cannot be loaded.
 */
export async function findApp(folder: string | undefined): Promise<App> {
	const place = folder === undefined ? ownApp() : resolve(folder);
	const file = ["app.ts", "app.js"]
		.map((name) => join(place, name))
		.find((each) => existsSync(each));
	if (file === undefined) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`${place} has no app: expected a file app.ts there that exports what defineApp returns as default.`,
		);
	}
	const found = await loadValue(file);
	if (isApp(found)) return found;
	throw new CorkboardError(
		"BAD_MODEL",
		`${file} exports no app: write export default defineApp({ schema, resolvers, policies, identity }).`,
	);
}

/** What a module of a user exports as default. It may import this engine. Throws BAD_MODEL if it cannot be loaded. */
export async function loadValue(file: string): Promise<unknown> {
	resolveEngine();
	return (await load(file)).default;
}

async function load(file: string): Promise<{ readonly default?: unknown }> {
	try {
		return await import(pathToFileURL(file).href);
	} catch (cause) {
		throw new CorkboardError("BAD_MODEL", problemOf(file, cause), { cause });
	}
}

/** One sentence with the file and the line at fault. */
function problemOf(file: string, thrown: unknown): string {
	const { stack = "", message } =
		thrown instanceof Error ? thrown : { message: String(thrown) };
	const first = message.split("\n")[0]?.trim();
	return `${importOf(message) ?? placeIn(stack) ?? file}: ${first}`;
}

/** Where a module is imported that is not there. */
function importOf(message: string): string | undefined {
	const [, missing = "", importer] =
		/^Cannot find (?:module|package) '([^']+)' imported from (\S+)/.exec(
			message,
		) ?? [];
	if (importer === undefined) return undefined;
	const lines = readFileSync(importer, "utf8").split("\n");
	const line = lines.findIndex((each) => each.includes(basename(missing)));
	return line === -1 ? importer : `${importer}:${line + 1}`;
}

/** The first place of a stack that is not in the engine. */
function placeIn(stack: string): string | undefined {
	const engine = join(import.meta.dirname, "../");
	for (const [, place = ""] of stack.matchAll(
		/(?:^|[ (])(?:file:\/\/)?(\/[^\n:()]+:\d+)/gm,
	)) {
		if (!decodeURI(place).startsWith(engine)) return decodeURI(place);
	}
	return undefined;
}

function isApp(found: unknown): found is App {
	return (
		typeof found === "object" &&
		found !== null &&
		"schema" in found &&
		typeof found.schema === "string" &&
		"resolvers" in found &&
		found.resolvers instanceof Map &&
		"policies" in found &&
		"identity" in found
	);
}
