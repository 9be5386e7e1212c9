import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { demoExamples, SOME_PINS } from "../demo/examples.ts";
import { demoGraph } from "../demo/graph.ts";
import { DEMO_USERNAME } from "../demo/people.ts";
import { findUserByUsername } from "../domain/findUser.ts";
import type { Id } from "../id/ids.ts";
import { createFieldReaders } from "../model/fieldReaders.ts";
import { importLines, PATIENT_RETRIES_MS } from "../ops/import/importLines.ts";
import type { ImportProgress } from "../ops/import/progress.ts";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";
import type { Corkboard } from "./openCorkboard.ts";

/** A file beside the data: the state of the demo graph, so that the next start resumes an interrupted import. */
const STATE_FILE = "demo";
type State = "importing" | "imported";

export interface DemoOptions {
	readonly signal: AbortSignal;
	/** Called before the import, if there is one. */
	readonly onImport?: () => void;
	readonly onWaiting?: (what: string) => void;
	readonly onProgress?: (progress: ImportProgress) => void;
	/** Called after the import. */
	readonly onImported?: () => void;
}

/** Imports the demo graph into an empty folder. Returns undefined if the folder holds something else, or if the import was interrupted. */
export async function prepareDemo(
	corkboard: Corkboard,
	folder: string,
	options: DemoOptions,
): Promise<Demo | undefined> {
	const file = join(folder, STATE_FILE);
	const state = await readState(file);
	if (state === undefined && !(await isEmpty(corkboard))) return undefined;
	if (state !== "imported") {
		await writeFile(file, `${"importing" satisfies State}\n`);
		if (!(await importDemo(corkboard, options))) return undefined;
		await writeFile(file, `${"imported" satisfies State}\n`);
	}
	const user = await findUserByUsername(corkboard, DEMO_USERNAME);
	return user && corkboard.accessTokens.signs && (await corkboard.isUser(user))
		? {
				username: DEMO_USERNAME,
				token: await corkboard.accessTokens.sign(user),
				examples: demoExamples(await pinToLike(corkboard, user)),
			}
		: undefined;
}

/** The id of a pin, if possible one that the demo user does not like yet. */
async function pinToLike(
	corkboard: Corkboard,
	viewer: Id,
): Promise<string | undefined> {
	const { data } = await corkboard.query(SOME_PINS, { viewer });
	const pins = pinsIn(data);
	return (pins.find(({ viewerLikes }) => !viewerLikes) ?? pins[0])?.id;
}

interface PinAndLike {
	readonly id: string;
	readonly viewerLikes: boolean;
}

/** All pins in a response. */
function pinsIn(value: unknown): PinAndLike[] {
	if (typeof value !== "object" || value === null) return [];
	return "viewerLikes" in value
		? [value as PinAndLike]
		: Object.values(value).flatMap(pinsIn);
}

/** Returns false if it was interrupted. */
async function importDemo(
	{ schema, store }: Corkboard,
	{ signal, onImport, onWaiting, onProgress, onImported }: DemoOptions,
): Promise<boolean> {
	onImport?.();
	const lines = [...demoGraph()].map((line) => JSON.stringify(line));
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

/** Every user and interest has a lookup, and everything else has an owner, so a graph without lookups is empty. */
async function isEmpty({ storage }: Corkboard): Promise<boolean> {
	for (let modShard = 0; modShard < storage.map.modShards; modShard++) {
		for await (const rows of storage.walk("lookups", modShard)) {
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
