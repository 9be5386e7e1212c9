import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
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
 * Throws BAD_CONFIG where there is none, and BAD_MODEL where it cannot be loaded.
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
	resolveEngine();
	const found = (await load(file)).default;
	if (isApp(found)) return found;
	throw new CorkboardError(
		"BAD_MODEL",
		`${file} exports no app: write export default defineApp({ schema, resolvers, policies, identity }).`,
	);
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
	const { stack = "", message = String(thrown) } =
		thrown instanceof Error ? thrown : {};
	const at =
		/^(?:file:\/\/)?(\/[^\n:]+:\d+)/.exec(stack)?.[1] ??
		/\((?:file:\/\/)?(\/[^\n:()]+:\d+)/.exec(stack)?.[1] ??
		/ at (?:file:\/\/)?(\/[^\n:()]+:\d+)/.exec(stack)?.[1] ??
		file;
	return `${decodeURI(at)}: ${message.split("\n")[0]?.trim()}`;
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
