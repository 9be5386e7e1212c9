import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
	MAX_LINE,
	NOT_UTF_8,
	type RawLine,
	readBatches,
	TOO_LONG,
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

	it("say so if they are too long, and reading continues with the next line", async () => {
		const long = "x".repeat(MAX_LINE);
		const source = Readable.from(
			[`${long}\n`, long, "x", long, `${long}\n`, "next\n"].map((text) =>
				Buffer.from(text),
			),
		);
		assert.deepEqual(await linesOf(source), [[long, TOO_LONG, "next"]]);
	});

	it("say so if they are not UTF-8, wherever a chunk ends, and the others are read", async () => {
		const bytes = Buffer.concat([
			Buffer.from("Zoë\nPlain\n", "latin1"),
			Buffer.from("Zoë\r\n"),
			// Cut in the middle of a character.
			Buffer.from("Zoë").subarray(0, 3),
		]);
		for (let at = 1; at < bytes.length; at++) {
			const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
			assert.deepEqual(await linesOf(Readable.from(chunks)), [
				[NOT_UTF_8, "Plain", "Zoë", NOT_UTF_8],
			]);
		}
	});

	it("may have a byte order mark, as files that were joined have several", async () => {
		const source = Readable.from([Buffer.from("\uFEFF1\n\uFEFF2\n3\uFEFF\n")]);
		assert.deepEqual(await linesOf(source), [["1", "2", "3\uFEFF"]]);
	});

	it("are not looked for in a file that is compressed, UTF-16, an array or JSON over several lines, which is named once", async () => {
		const line = '{"type":"User"}\n';
		const files: readonly (readonly [Uint8Array, RegExp])[] = [
			[gzipSync(line), /compressed with gzip.* gzip -dc FILE \|/],
			[zstdCompressSync(line), /compressed with zstd/],
			[Buffer.from(`\uFEFF${line}`, "utf16le"), /is UTF-16.*iconv -f UTF-16/],
			[Buffer.from(line, "utf16le"), /is UTF-16/],
			[Buffer.from(line, "utf16le").swap16(), /is UTF-16/],
			[Buffer.from("[\n {}\n]\n"), /is a JSON array.*jq -c '\.\[\]'/],
			[Buffer.from("\uFEFF [{}]"), /is a JSON array/],
			[Buffer.from('{\n "type": "User"\n}\n'), /over several lines.*jq -c \./],
		];
		for (const [bytes, message] of files) {
			for (const at of [0, 1, 3, bytes.length]) {
				const chunks = [bytes.subarray(0, at), bytes.subarray(at)];
				await assert.rejects(linesOf(Readable.from(chunks)), {
					code: "BAD_DATA",
					message,
				});
			}
		}
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
