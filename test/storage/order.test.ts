import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OrderingField } from "../../src/model/types.ts";
import { sequenceOfValue } from "../../src/storage/order.ts";

const RISING = { order: "LOWEST_FIRST" } as const;
const FALLING = { order: "HIGHEST_FIRST" } as const;
const TIME: OrderingField = {
	field: "startsAt",
	key: "starts_at",
	default: null,
	type: "DateTime",
};
const NUMBER: OrderingField = {
	field: "rating",
	key: "stars",
	default: null,
	type: "Int",
};

describe("the sequence of an edge in a list that is ordered by a field", () => {
	it("rises with the value over all that is stored, and is a sequence", () => {
		const times = [
			"0000-01-01T00:00:00.000Z",
			"0000-01-01T00:00:00.001Z",
			"1969-12-31T23:59:59.999Z",
			"1970-01-01T00:00:00.000Z",
			"9999-12-31T23:59:59.999Z",
		].map((starts_at) => sequenceOfValue(RISING, TIME, { starts_at }));
		const numbers = [-2_147_483_648, -1, 0, 1, 2_147_483_647].map((stars) =>
			sequenceOfValue(FALLING, NUMBER, { stars }),
		);
		for (const sequences of [times, numbers]) {
			assert.deepEqual(
				sequences.toSorted((a, b) => a - b),
				sequences,
			);
			assert.equal(new Set(sequences).size, sequences.length);
			assert.equal(sequences[0], 1);
			assert.ok(sequences.every(Number.isSafeInteger));
		}
	});

	it("is that of the default where the row lacks the field, and the last where there is none or the value is damaged", () => {
		const fallback = { ...NUMBER, default: 3 };
		assert.equal(
			sequenceOfValue(RISING, fallback, {}),
			sequenceOfValue(RISING, NUMBER, { stars: 3 }),
		);
		const highest = sequenceOfValue(RISING, TIME, {
			starts_at: "9999-12-31T23:59:59.999Z",
		});
		for (const content of [{}, { starts_at: null }, { starts_at: "soon" }]) {
			assert.ok(sequenceOfValue(RISING, TIME, content) > highest);
			assert.equal(sequenceOfValue(FALLING, TIME, content), 0);
		}
		for (const stars of [null, "5", 1.5, 1e300]) {
			assert.equal(sequenceOfValue(FALLING, NUMBER, { stars }), 0);
		}
	});
});
