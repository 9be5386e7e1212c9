import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { demoGraph } from "../demo/graph.ts";
import { DEMO_USERNAME } from "../demo/people.ts";
import { DEMO_QUERY } from "../demo/query.ts";
import { storedFaults } from "../graphql/input/storedFaults.ts";
import { importLines } from "../ops/import.ts";
import type { Demo } from "../server/graphiql/serve.ts";
import type { Io } from "./io.ts";
import type { Corkboard } from "./open.ts";
import { pace, showProgress } from "./progress.ts";
import { userNamed } from "./users.ts";

/** Beside the data: what became of the demo graph, so that a first start that was cut off is gone on with. */
const NOTE = "demo";
type State = "being made" | "made";

/** The demo graph, made if the folder has nothing in it; undefined if the folder holds something else. */
export async function demoIn(
	corkboard: Corkboard,
	folder: string,
	io: Io,
): Promise<Demo | undefined> {
	const file = join(folder, NOTE);
	const state = await readState(file);
	if (state === undefined && !(await isEmpty(corkboard))) return undefined;
	if (state !== "made") {
		await writeFile(file, `${"being made" satisfies State}\n`);
		if (!(await makeDemo(corkboard, io))) return undefined;
		await writeFile(file, `${"made" satisfies State}\n`);
	}
	const user = await userNamed(corkboard, DEMO_USERNAME);
	return user
		? {
				username: DEMO_USERNAME,
				token: await corkboard.tokens.sign(user),
				query: DEMO_QUERY,
			}
		: undefined;
}

/** False if it was interrupted. */
async function makeDemo(corkboard: Corkboard, io: Io): Promise<boolean> {
	io.err("Making a demo graph (CORKBOARD_DEMO=off starts without one) …");
	const lines = [...demoGraph()].map((line) => JSON.stringify(line));
	const progress = showProgress(io);
	const { outcome } = await importLines(corkboard.store, each(lines), {
		faultOf: storedFaults(corkboard.schema),
		strict: true,
		signal: io.interruption(),
		onProgress: (done) => progress.show(pace(done)),
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
