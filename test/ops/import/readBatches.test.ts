import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import {
	MAX_LINE,
	type RawLine,
	readBatches,
} from "../../../src/ops/import/readBatches.ts";

async function linesOf(
	source: AsyncIterable<string> | Readable,
	size = 100,
): Promise<readonly (readonly RawLine[])[]> {
	const batches: (readonly RawLine[])[] = [];
	for await (const { lines } of readBatches(source, size)) batches.push(lines);
	return batches;
}

describe("import lines", () => {
	it("are split correctly whatever the chunk boundaries", async () => {
		const bytes = Buffer.from("één\r\ntwee 🐙\n\ndrie");
		for (let at = 1; at < bytes.length; at++) {
			const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
			assert.deepEqual(await linesOf(Readable.from(chunks)), [
				["één", "twee 🐙", "", "drie"],
			]);
		}
	});

	it("are read in batches of the requested size; the last may be smaller", async () => {
		const source = Readable.from([Buffer.from("1\n2\n3\n4\n"), "5\n"]);
		assert.deepEqual(await linesOf(source, 2), [["1", "2"], ["3", "4"], ["5"]]);
	});

	it("are null if too long, and reading continues with the next line", async () => {
		const long = "x".repeat(MAX_LINE);
		const source = Readable.from(
			[`${long}\n`, long, "x", long, `${long}\n`, "next\n"].map((text) =>
				Buffer.from(text),
			),
		);
		assert.deepEqual(await linesOf(source), [[long, null, "next"]]);
	});

	it("are counted in bytes", async () => {
		const source = Readable.from([Buffer.from("é\n"), Buffer.from("ab\n")]);
		let read: number | undefined;
		for await (const { bytes } of readBatches(source, 1)) read = bytes;
		assert.equal(read, 6);
	});

	it("are not awaited after the signal is aborted", async () => {
		const source = new Readable({ read() {} });
		source.push("one\n");
		const aborted = new AbortController();
		const batches = readBatches(source, 1, aborted.signal);
		assert.deepEqual((await batches.next()).value?.lines, ["one"]);
		const waiting = batches.next();
		aborted.abort();
		assert.equal((await waiting).done, true);
		assert.equal(source.destroyed, true);
	});
});
