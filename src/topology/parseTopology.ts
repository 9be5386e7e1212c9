import { CorkboardError } from "../errors.ts";
import { reasonOf } from "../util/reasonOf.ts";
import { readTextFileSync } from "../util/textFile.ts";
import { checkTopology } from "./check.ts";
import type { Topology } from "./types.ts";

/** Reads and checks the topology in a JSON file. Throws BAD_TOPOLOGY with the file's path before every problem. */
export function readTopology(path: string): Topology {
	return prefixErrorsWithPath(path, () =>
		checkTopology(parse(readTextFileSync(path))),
	);
}

/** The same for text already read from the file. */
export function parseTopology(path: string, text: string): Topology {
	return prefixErrorsWithPath(path, () => checkTopology(parse(text)));
}

/** Rethrows what `body` throws as BAD_TOPOLOGY, with the file's path before every problem. */
export function prefixErrorsWithPath<T>(path: string, body: () => T): T {
	try {
		return body();
	} catch (thrown) {
		const reason = reasonOf(thrown);
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

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (thrown) {
		// V8's message may quote the text around the error, and a password in it.
		const said = thrown instanceof Error ? thrown.message : "";
		const where = / in JSON at position .*$/.exec(said)?.[0] ?? "";
		throw new SyntaxError(
			`expected JSON but got: ${text.trim() === "" ? "nothing" : `something else${where.replace(" in JSON", "")}`}`,
		);
	}
}

/** The default topology: all shards, mod shards and a queue shard in one folder. */
export function embeddedTopology(folder: string, shards = 16): Topology {
	const range = [0, shards - 1];
	const primary = `sqlite:${folder}`;
	return checkTopology({
		version: 1,
		shards: [{ range, primary, open: true }],
		lookups: [{ range, primary }],
		queues: [{ range: [0, 0], primary }],
	});
}
