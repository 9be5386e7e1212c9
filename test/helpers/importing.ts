import { createReadStream, statSync } from "node:fs";
import { fieldFaults } from "../../src/model/fieldFault.ts";
import { type ImportReport, importLines } from "../../src/ops/import.ts";
import { openEmbedded } from "./embedded.ts";
import { theModel } from "./model.ts";

/** Imports a file into the data folder beside it. Run as a process of its own, so that it can be killed: `importing.ts FOLDER FILE SHARDS`. */
export async function importFile(
	folder: string,
	file: string,
	shards: number,
): Promise<ImportReport> {
	await using embedded = await openEmbedded({ folder, shards });
	return await importLines(embedded.store, createReadStream(file), {
		faultOf: fieldFaults(theModel().schema),
		totalBytes: statSync(file).size,
		onBadLine: (line, reason) => console.error(`line ${line}: ${reason}`),
	});
}

if (import.meta.main) {
	const [folder = "", file = "", shards = "4"] = process.argv.slice(2);
	console.log(JSON.stringify(await importFile(folder, file, Number(shards))));
}
