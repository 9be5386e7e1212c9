import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { demoGraph } from "../demo/graph.ts";
import { DEMO_USERNAME } from "../demo/people.ts";
import { DEMO_QUERY } from "../demo/query.ts";
import { CorkboardError } from "../errors.ts";
import type { Io } from "./io.ts";
import type { Demo, Opened } from "./opened.ts";
import { showProgress } from "./progress.ts";

/** Beside the data: what became of the demo graph, so that a first start that was cut off is gone on with. */
const NOTE = "demo";
type State = "being made" | "made";

/** The demo graph, made if the folder has nothing in it; undefined if the folder holds something else. */
export async function demoIn(
	graph: Opened,
	folder: string,
	io: Io,
): Promise<Demo | undefined> {
	const file = join(folder, NOTE);
	let state = await readState(file);
	if (state === undefined && !(await graph.isEmpty())) return undefined;
	if (state !== "made") {
		await mkdir(folder, { recursive: true });
		await writeFile(file, `${"being made" satisfies State}\n`);
		if (!(await makeDemo(graph, io))) return undefined;
		state = "made";
		await writeFile(file, `${state}\n`);
	}
	const user = await graph.user(DEMO_USERNAME);
	return user
		? {
				username: user.username,
				token: await graph.signToken(user.id),
				query: DEMO_QUERY,
			}
		: undefined;
}

/** False if it was interrupted. */
async function makeDemo(graph: Opened, io: Io): Promise<boolean> {
	io.err("Making a demo graph (CORKBOARD_DEMO=off starts without one) …");
	const lines = [...demoGraph()].map((line) => JSON.stringify(line));
	const progress = showProgress(io, "lines");
	const imported = await graph.import(each(lines), {
		strict: true,
		signal: io.interruption(),
		progress: (done) => progress.show(done, done / lines.length),
		badLine(line, reason) {
			throw new CorkboardError(
				"INTERNAL",
				`line ${line} of the demo graph: ${reason}`,
			);
		},
	});
	progress.end();
	return !imported.interrupted;
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
