import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findUserByUsername } from "../app/findUser.ts";
import type { Corkboard } from "../app/openCorkboard.ts";
import { demoExamples, SOME_PINS } from "../demo/examples.ts";
import { demoGraph } from "../demo/graph.ts";
import { DEMO_USERNAME } from "../demo/people.ts";
import { readQuery } from "../graphql/document.ts";
import type { Id } from "../id/ids.ts";
import { createFieldReaders } from "../model/fieldReaders.ts";
import { importLines } from "../ops/import/importLines.ts";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";
import type { CommandContext } from "./commandContext.ts";
import { createProgressLine, formatPace } from "./progress.ts";

/** Beside the data: what became of the demo graph, so that a first start that was cut off is gone on with. */
const NOTE = "demo";
type State = "being made" | "made";

/** The demo graph, made if the folder has nothing in it; undefined if the folder holds something else. */
export async function prepareDemo(
	corkboard: Corkboard,
	folder: string,
	io: CommandContext,
): Promise<Demo | undefined> {
	const file = join(folder, NOTE);
	const state = await readState(file);
	if (state === undefined && !(await isEmpty(corkboard))) return undefined;
	if (state !== "made") {
		await writeFile(file, `${"being made" satisfies State}\n`);
		if (!(await makeDemo(corkboard, io))) return undefined;
		await writeFile(file, `${"made" satisfies State}\n`);
	}
	const user = await findUserByUsername(corkboard, DEMO_USERNAME);
	return user && corkboard.accessTokens.signs
		? {
				username: DEMO_USERNAME,
				token: await corkboard.accessTokens.sign(user),
				examples: demoExamples(await pinToLike(corkboard, user)),
			}
		: undefined;
}

/** One the demo user does not like yet, if there is one. */
async function pinToLike(
	corkboard: Corkboard,
	viewer: Id,
): Promise<string | undefined> {
	const { data } = await corkboard.planner.execute({
		document: readQuery(corkboard.schema, SOME_PINS, "the demo's pins"),
		variables: {},
		context: corkboard.createContext(viewer),
	});
	const pins = pinsIn(data);
	return (pins.find(({ viewerLikes }) => !viewerLikes) ?? pins[0])?.id;
}

interface Liked {
	readonly id: string;
	readonly viewerLikes: boolean;
}

/** Wherever in an answer they are. */
function pinsIn(value: unknown): Liked[] {
	if (typeof value !== "object" || value === null) return [];
	return "viewerLikes" in value
		? [value as Liked]
		: Object.values(value).flatMap(pinsIn);
}

/** False if it was interrupted. */
async function makeDemo(
	corkboard: Corkboard,
	io: CommandContext,
): Promise<boolean> {
	io.stderr("Making a demo graph (CORKBOARD_DEMO=off starts without one) …");
	const lines = [...demoGraph()].map((line) => JSON.stringify(line));
	const progress = createProgressLine(io);
	const { outcome } = await importLines(corkboard.store, each(lines), {
		fields: createFieldReaders(corkboard.schema, corkboard.store.domain.fields),
		strict: true,
		signal: io.interruptSignal(),
		onWaiting: (what) => io.stderr(`waiting for ${what} …`),
		onProgress: (done) => progress.update(formatPace(done)),
		onBadLine(line, reason) {
			throw new Error(`line ${line} of the demo graph: ${reason}`);
		},
	});
	progress.end();
	return outcome === "finished";
}

/** Every object has at least one name, so a graph without names has nothing in it. */
async function isEmpty({ storage }: Corkboard): Promise<boolean> {
	for (let modShard = 0; modShard < storage.modShards; modShard++) {
		for await (const rows of storage.walkLookups(modShard)) {
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
		return text === "made" ? "made" : "being made";
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}
