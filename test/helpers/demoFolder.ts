import { cp } from "node:fs/promises";
import { join } from "node:path";
import pinsApp from "../../pins/app.ts";
import { makeOnce } from "./makeOnce.ts";

/**
 * Fills an empty data folder with the demo graph, as the first start on it does.
 * The files of one test run import the graph once, into the run's folder, and
 * copy it: the import takes longer than the rest of a start. A file that runs
 * without the runner leaves the import to the server.
 */
export async function fillWithDemo(folder: string): Promise<void> {
	const { TEST_RUN_FOLDER } = process.env;
	if (TEST_RUN_FOLDER === undefined) return;
	await copyDemo(folder, TEST_RUN_FOLDER);
}

/** The same, but a file that runs without the runner imports the graph here. */
export async function importDemo(folder: string): Promise<void> {
	const { TEST_RUN_FOLDER } = process.env;
	if (TEST_RUN_FOLDER === undefined) await makeDemo(folder);
	else await copyDemo(folder, TEST_RUN_FOLDER);
}

async function copyDemo(folder: string, runFolder: string): Promise<void> {
	const template = join(runFolder, "demo");
	await makeOnce(template, makeDemo);
	await cp(template, folder, { recursive: true });
}

/** Loads the program here: most test files find the folder made. */
async function makeDemo(folder: string): Promise<void> {
	const { openCorkboard } = await import("../../src/app/openCorkboard.ts");
	const { prepareDemo } = await import("../../src/app/prepareDemo.ts");
	const { readConfig } = await import("../../src/config/config.ts");
	const config = readConfig({ CORKBOARD_DATA: folder, CORKBOARD_DEMO: "on" });
	await using corkboard = await openCorkboard(pinsApp, config, "readWrite");
	const { signal } = new AbortController();
	const demo = await prepareDemo(corkboard, folder, { signal });
	if (demo === undefined) throw new Error("expected a demo user");
}
