import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { renumberedSequences, SEQUENCE_GAP } from "../../src/storage/order.ts";
import { pin } from "../helpers/storageModel.ts";

function renumber(sequences: readonly number[]): readonly number[] {
	return renumberedSequences(
		sequences.map((sequence) => ({ sequence, to: pin(1) })),
	);
}

test("an edge with room enough below it keeps its sequence", () => {
	assert.deepEqual(renumber([]), []);
	assert.deepEqual(renumber([1_000, 2_000, 9_999]), [1_000, 2_000, 9_999]);
	assert.deepEqual(renumber([0, 0, 5, 50_000]), [1_000, 2_000, 3_000, 50_000]);
});

test("a renumbered list has gaps everywhere, moves no edge down, and needs no second renumbering", () => {
	const ascending = fc
		.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 40 })
		.map((sequences) => sequences.sort((a, b) => a - b));
	fc.assert(
		fc.property(ascending, (sequences) => {
			const after = renumber(sequences);
			let last = 0;
			for (const [index, sequence] of after.entries()) {
				assert.ok(sequence - last >= SEQUENCE_GAP);
				assert.ok(sequence >= (sequences[index] ?? 0));
				last = sequence;
			}
			assert.deepEqual(renumber(after), after);
		}),
	);
});
