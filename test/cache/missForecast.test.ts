import assert from "node:assert/strict";
import { test } from "node:test";
import { MissForecast } from "../../src/cache/missForecast.ts";

test("misses are likely after three batches of which all was absent, and no longer after three of which nothing was", () => {
	const forecast = new MissForecast();
	const after = (keys: number, missing: number) => {
		forecast.add(keys, missing);
		return forecast.isLikely;
	};
	assert.equal(forecast.isLikely, false);
	assert.deepEqual(
		[after(5, 5), after(1, 1), after(9, 9)],
		[false, false, true],
	);
	for (let batch = 0; batch < 20; batch++) assert.equal(after(5, 5), true);
	assert.equal(after(0, 0), true);
	assert.deepEqual(
		[after(5, 0), after(1, 0), after(9, 0)],
		[true, true, false],
	);
});

test("misses stay likely where most keys of each batch are absent, and unlikely where few are", () => {
	const forecast = new MissForecast();
	for (let batch = 0; batch < 20; batch++) forecast.add(10, 7);
	assert.equal(forecast.isLikely, true);
	for (let batch = 0; batch < 20; batch++) forecast.add(10, 3);
	assert.equal(forecast.isLikely, false);
});
