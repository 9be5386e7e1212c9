import { readFileSync } from "node:fs";
import { CorkboardError } from "../errors.ts";
import { checkTopology } from "./check.ts";
import type { Topology } from "./types.ts";

/** The topology in a JSON file, checked. Throws BAD_TOPOLOGY, with the file's path before every fault. */
export function readTopology(path: string): Topology {
	try {
		return checkTopology(JSON.parse(readFileSync(path, "utf8")));
	} catch (thrown) {
		const reason = thrown instanceof Error ? thrown.message : String(thrown);
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			reason
				.split("\n")
				.map((line) => `${path}: ${line}`)
				.join("\n"),
			{ cause: thrown },
		);
	}
}
