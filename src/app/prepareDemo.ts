import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createFieldReaders } from "../model/fieldReaders.ts";
import { walkOwnLookups } from "../ops/graphId.ts";
import { importLines, PATIENT_RETRIES_MS } from "../ops/import/importLines.ts";
import type { ImportProgress } from "../ops/import/progress.ts";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";
import type { AppDemo } from "./defineApp.ts";
import { findUserByName } from "./findUser.ts";
import type { Corkboard } from "./openCorkboard.ts";

/** A file beside the data: the state of the demo graph, so that the next start resumes an interrupted import. */
const STATE_FILE = "demo";
type State = "importing" | "imported";

interface DemoOptions {
	readonly signal: AbortSignal;
	/** Called before the import, if there is one. */
	readonly onImport?: () => void;
	readonly onWaiting?: (what: string) => void;
	readonly onProgress?: (progress: ImportProgress) => void;
	/** Called after the import. */
	readonly onImported?: () => void;
}

/** Imports the app's demo graph into an empty folder. Returns undefined if the app has none, if the folder holds something else, or if the import was interrupted. */
export async function prepareDemo(
	corkboard: Corkboard,
	folder: string,
	options: DemoOptions,
): Promise<Demo | undefined> {
	const { demo } = corkboard.app;
	if (demo === undefined) return undefined;
	const file = join(folder, STATE_FILE);
	const state = await readState(file);
	if (state === undefined && !(await isEmpty(corkboard))) return undefined;
	if (state !== "imported") {
		await writeFile(file, `${"importing" satisfies State}\n`);
		if (!(await importDemo(demo, corkboard, options))) return undefined;
		await writeFile(file, `${"imported" satisfies State}\n`);
	}
	const viewer = await findUserByName(corkboard, demo.viewer);
	return viewer &&
		corkboard.accessTokens.signs &&
		(await corkboard.isUser(viewer))
		? {
				username: demo.viewer,
				token: await corkboard.accessTokens.sign(viewer),
				others: await othersOf(demo, corkboard),
				examples: await demo.examples({ query: corkboard.query, viewer }),
			}
		: undefined;
}

/** Those that are still there. */
async function othersOf(
	{ others = [] }: AppDemo,
	corkboard: Corkboard,
): Promise<NonNullable<Demo["others"]>> {
	const found: { username: string; token: string }[] = [];
	for (const username of others) {
		const user = await findUserByName(corkboard, username);
		if (user === null || !(await corkboard.isUser(user))) continue;
		found.push({ username, token: await corkboard.accessTokens.sign(user) });
	}
	return found;
}

/** Returns false if it was interrupted. */
async function importDemo(
	demo: AppDemo,
	{ schema, store }: Corkboard,
	{ signal, onImport, onWaiting, onProgress, onImported }: DemoOptions,
): Promise<boolean> {
	onImport?.();
	const lines = [...demo.graph()].map((line) => JSON.stringify(line));
	const { status } = await importLines(store, each(lines), {
		fields: createFieldReaders(schema, store.domain.fields),
		strict: true,
		signal,
		retryAfterMs: PATIENT_RETRIES_MS,
		...(onWaiting && { onWaiting }),
		...(onProgress && { onProgress }),
		onBadLine(line, reason) {
			throw new Error(`line ${line} of the demo graph: ${reason}`);
		},
	});
	onImported?.();
	return status === "finished";
}

/** Every user has a lookup, by which it is found, so a graph without lookups is as good as empty. */
async function isEmpty({ storage }: Corkboard): Promise<boolean> {
	for (let modShard = 0; modShard < storage.map.modShards; modShard++) {
		for await (const rows of walkOwnLookups(storage, modShard)) {
			if (rows.length > 0) return false;
		}
	}
	return true;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
	yield* lines;
}

async function readState(file: string): Promise<State | undefined> {
	try {
		const text = (await readFile(file, "utf8")).trim();
		return text === "imported" ? "imported" : "importing";
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}
