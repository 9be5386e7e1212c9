import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import {
	comparePositions,
	isShifted,
	SEQUENCE_GAP,
	shiftFrom,
	shiftPosition,
} from "../../src/storage/renumbering.ts";
import type { Position, Shift } from "../../src/storage/rows.ts";
import { pin } from "../helpers/storageModel.ts";

const position = fc
	.tuple(fc.nat({ max: 6_000 }), fc.integer({ min: 1, max: 9 }))
	.map(([sequence, n]): Position => ({ sequence, to: pin(n) }));

test("a shift keeps every position, with or without an edge, between the same edges", () => {
	fc.assert(
		fc.property(
			fc.uniqueArray(position, { minLength: 1, maxLength: 40, size: "max" }),
			fc.array(position, { maxLength: 40, size: "max" }),
			fc.nat(),
			(unsorted, positions, first) => {
				const edges = unsorted.toSorted(comparePositions);
				const at = edges[first % edges.length] as Position;
				const above = edges.filter((edge) => comparePositions(edge, at) >= 0);
				const shift = shiftFrom(at, above, false) as Shift;
				const some = above.slice(0, 1 + (first % 5));
				const found = shiftFrom(at, some, some.length < above.length);
				assert.ok(found === null || isDeepStrictEqual(found, shift));
				const moved = (edge: Position) =>
					isShifted(edge, shift)
						? { ...edge, sequence: edge.sequence + shift.by }
						: edge;
				assert.ok(isShifted(at, shift));
				assert.ok(shift.by >= SEQUENCE_GAP / 2);
				for (const one of [...positions, ...edges]) {
					for (const edge of edges) {
						assert.equal(
							Math.sign(
								comparePositions(shiftPosition(one, shift), moved(edge)),
							),
							Math.sign(comparePositions(one, edge)),
						);
					}
				}
			},
		),
	);
});
