import assert from "node:assert/strict";
import { it } from "node:test";
import { attack } from "./attack.ts";

const SEED = 106;

it("an attack of half a minute, with two servers and a few clients, breaks no promise", async () => {
	const lines: string[] = [];
	const result = await attack(
		{
			seed: SEED,
			minutes: 0.4,
			servers: 2,
			clients: 6,
			violations: 1,
		},
		{
			say: (line) => void lines.push(line),
			signal: new AbortController().signal,
			keep: async () => {},
		},
	);
	assert.deepEqual(
		result.violations.map(({ text }) => text),
		[],
		lines.join("\n"),
	);
	assert.ok(result.isComplete, lines.join("\n"));
	assert.ok(result.faults >= 3, lines.join("\n"));
	assert.ok(result.moves >= 1, lines.join("\n"));
	assert.ok(result.statistics.acknowledged >= 20, lines.join("\n"));
	assert.ok(result.statistics.reads >= 20, lines.join("\n"));
});
