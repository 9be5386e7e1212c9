import assert from "node:assert/strict";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { createFieldReaders } from "../../src/model/fieldReaders.ts";
import { importLines } from "../../src/ops/import/importLines.ts";
import { type Expectation, readFile } from "../../tools/compare/expected.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { generatedGraph } from "./graph.ts";

/** A generated graph as a file, and as a data folder that the file was imported into. */
export interface Imported extends Disposable {
	readonly file: string;
	readonly folder: string;
	readonly expectation: Expectation;
	/** Another folder with the same in it. */
	copy(): string;
}

export async function importedGraph(seed: number): Promise<Imported> {
	const around = temporaryFolder();
	const file = join(around.path, "graph.ndjson");
	const folder = join(around.path, "data");
	const lines = [...generatedGraph(seed)].map((line) => JSON.stringify(line));
	writeFileSync(file, `${lines.join("\n")}\n`);
	await using corkboard = await openFolder(folder);
	const report = await importLines(corkboard.store, inTurn(lines), {
		fields: createFieldReaders(corkboard.schema, corkboard.store.domain.fields),
	});
	assert.equal(report.bad, 0);
	assert.ok(report.existing > 0, "expected edges that come twice");
	let copies = 0;
	return {
		file,
		folder,
		expectation: await readFile(file),
		copy() {
			const copy = join(around.path, `copy${++copies}`);
			cpSync(folder, copy, { recursive: true });
			return copy;
		},
		[Symbol.dispose]: () => around[Symbol.dispose](),
	};
}

/** The whole program on a folder of its own. */
export function openFolder(folder: string): Promise<Corkboard> {
	mkdirSync(folder, { recursive: true });
	const config = readConfig({ CORKBOARD_DATA: folder, CORKBOARD_DEMO: "off" });
	return openCorkboard(pinsApp, config, "readWrite");
}

async function* inTurn(lines: readonly string[]): AsyncGenerator<string> {
	yield* lines;
}
